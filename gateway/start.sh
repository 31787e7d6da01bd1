#!/bin/sh
# Write what depends on the key and the certificates, then become nginx.
set -eu
key_file=/run/secrets/api_key
tls=/run/secrets/tls
refuse() {
  printf 'error: %s\n  remedy: %s\n' "$1" "$2" >&2
  exit 78
}
umask 077
mkdir -p /tmp/gateway
[ -r "$key_file" ] || refuse "the key file is not readable by uid $(id -u)" \
  "make it readable (GATEWAY_USER names the user), and name it by GATEWAY_KEY_FILE"
key=$(head -n 1 "$key_file")
printf '%s' "$key" | grep -Eqx '[A-Za-z0-9._~+/=-]{16,200}' || refuse \
  "the key file's first line is not a key" \
  "write 16 to 200 letters, digits and ._~+/=- to it, as by: openssl rand -hex 32"
# A regular expression, since nginx compares plain strings without regard to case.
pattern=$(printf '%s' "$key" | sed 's/[.+]/[&]/g')
printf 'map $http_authorization $has_key {\n  default 0;\n  "~^Bearer %s$" 1;\n}\n' \
  "$pattern" > /tmp/gateway/key.conf
if [ -e "$tls/tls.crt" ]; then
  [ -r "$tls/tls.crt" ] && [ -r "$tls/tls.key" ] || refuse \
    "tls.crt or tls.key is not readable by uid $(id -u)" "make both readable"
  printf 'listen 8443 ssl;\nssl_certificate %s;\nssl_certificate_key %s;\n%s\n' \
    "$tls/tls.crt" "$tls/tls.key" 'ssl_protocols TLSv1.2 TLSv1.3;' \
    > /tmp/gateway/listen.conf
else
  echo "no certificates: plain HTTP"
  printf 'listen 8443;\n' > /tmp/gateway/listen.conf
fi
exec nginx -c /etc/gateway/nginx.conf -g 'daemon off;'
