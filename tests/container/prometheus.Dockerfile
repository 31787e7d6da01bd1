# Stands for Prometheus' own image where that cannot be pulled: same paths, same flags.
ARG BASE
FROM ${BASE}
RUN apt-get update \
  && apt-get install -y --no-install-recommends prometheus \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o nobody -g nogroup /prometheus
USER nobody
ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
