#!/bin/sh
# Run a command with the certificates and pip settings that the build was given, if any:
# `docker build --secret id=ca,src=FILE --secret id=pip_conf,src=FILE`. They are mounted
# for one step only and stay out of the image.
if [ -f /run/secrets/ca ]; then
  export SSL_CERT_FILE=/run/secrets/ca PIP_CERT=/run/secrets/ca
  export REQUESTS_CA_BUNDLE=/run/secrets/ca
fi
if [ -f /run/secrets/pip_conf ]; then
  export PIP_CONFIG_FILE=/run/secrets/pip_conf
fi
exec "$@"
