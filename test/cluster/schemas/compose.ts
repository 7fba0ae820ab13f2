// Keys of a Compose file that the samples use or may use, and their values.
// Source: Compose file reference, https://docs.docker.com/reference/compose-file/
import {
  BOOLEAN,
  COUNT,
  closed,
  either,
  listOf,
  mapOf,
  matching,
  oneOf,
  type Schema,
  TEXT,
  TEXTS,
} from './strict-schema.ts'

const DURATION = matching(/^(\d+(us|ms|s|m|h))+$/)
const BYTES = matching(/^\d+(b|k|kb|m|mb|g|gb)$/)
const PORT = matching(/^([\d.]+:)?\d+:\d+(\/(tcp|udp))?$/)
const VARIABLES = mapOf({ type: ['string', 'number', 'boolean', 'null'] })
const NUMBER_OR_TEXT = either(COUNT, TEXT)
const EMPTY_OR = (properties: Readonly<Record<string, Schema>>): Schema => either({ type: 'null' }, closed(properties))

const BUILD = either(
  TEXT,
  closed({ context: TEXT, dockerfile: TEXT, args: VARIABLES, target: TEXT, labels: VARIABLES }, 'context'),
)

const HEALTH_CHECK = closed({
  test: either(TEXT, TEXTS),
  interval: DURATION,
  timeout: DURATION,
  retries: COUNT,
  start_period: DURATION,
  start_interval: DURATION,
  disable: BOOLEAN,
})

const DEPENDENCIES = either(
  TEXTS,
  mapOf(
    closed(
      {
        condition: oneOf('service_started', 'service_healthy', 'service_completed_successfully'),
        restart: BOOLEAN,
        required: BOOLEAN,
      },
      'condition',
    ),
  ),
)

const SERVICE = closed({
  image: TEXT,
  build: BUILD,
  platform: TEXT,
  profiles: TEXTS,
  command: either(TEXT, TEXTS),
  entrypoint: either(TEXT, TEXTS),
  environment: VARIABLES,
  env_file: either(TEXT, TEXTS),
  hostname: matching(/^[a-z][a-z0-9-]*$/),
  user: TEXT,
  working_dir: TEXT,
  labels: VARIABLES,
  depends_on: DEPENDENCIES,
  healthcheck: HEALTH_CHECK,
  restart: matching(/^(no|always|unless-stopped|on-failure(:\d+)?)$/),
  init: BOOLEAN,
  stop_signal: TEXT,
  stop_grace_period: DURATION,
  read_only: BOOLEAN,
  tmpfs: either(TEXT, TEXTS),
  shm_size: BYTES,
  cap_add: TEXTS,
  cap_drop: TEXTS,
  security_opt: TEXTS,
  sysctls: mapOf(NUMBER_OR_TEXT),
  mem_limit: BYTES,
  pids_limit: { type: 'integer' },
  cpus: { type: ['number', 'string'] },
  ulimits: mapOf(either(COUNT, closed({ soft: COUNT, hard: COUNT }, 'soft', 'hard'))),
  logging: closed({ driver: TEXT, options: VARIABLES }),
  secrets: TEXTS,
  volumes: listOf(matching(/^[^:]+:\/[^:]*(:(ro|rw))?$/)),
  ports: listOf(PORT),
  networks: either(TEXTS, mapOf(EMPTY_OR({ aliases: TEXTS, ipv4_address: matching(/^\d+(\.\d+){3}$/) }))),
})

const NETWORK = EMPTY_OR({
  name: TEXT,
  driver: TEXT,
  external: BOOLEAN,
  internal: BOOLEAN,
  ipam: closed({
    driver: TEXT,
    config: listOf(closed({ subnet: matching(/^[\d.]+\/\d+$/), gateway: TEXT, ip_range: TEXT })),
  }),
})

/** A file alone, also one that only overrides another. Keys that start with `x-` hold fragments. */
export const COMPOSE_FILE: Schema = {
  ...closed(
    {
      name: matching(/^[a-z0-9][a-z0-9_-]*$/),
      services: mapOf(SERVICE),
      secrets: mapOf(closed({ file: TEXT, environment: TEXT, external: BOOLEAN, name: TEXT })),
      volumes: mapOf(EMPTY_OR({ name: TEXT, driver: TEXT, driver_opts: VARIABLES, external: BOOLEAN })),
      networks: mapOf(NETWORK),
    },
    'services',
  ),
  patternProperties: { '^x-': {} },
}
