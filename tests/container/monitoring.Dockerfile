# Stand for images that cannot be pulled, with the same paths: `--target prometheus`, …
ARG BASE
FROM ${BASE} AS packages
RUN apt-get update \
  && apt-get install -y --no-install-recommends nginx-light prometheus prometheus-alertmanager \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o nobody -g nogroup /alertmanager /prometheus

FROM packages AS prometheus
USER nobody
ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]

FROM packages AS alertmanager
USER nobody
ENTRYPOINT ["prometheus-alertmanager", "--config.file=/etc/alertmanager/alertmanager.yml", "--storage.path=/alertmanager", "--cluster.listen-address="]

FROM packages AS nginx
