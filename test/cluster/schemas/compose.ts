// Keys of a Compose file that the samples use, and their values.
// Source: Compose file reference, https://docs.docker.com/reference/compose-file/
import { COUNT, closed, either, listOf, mapOf, matching, oneOf, type Schema, TEXT, TEXTS } from './strict-schema.ts'

const DURATION = matching(/^(\d+(us|ms|s|m|h))+$/)
const VARIABLES = mapOf({ type: ['string', 'number', 'boolean', 'null'] })
const EMPTY_OR = (properties: Readonly<Record<string, Schema>>): Schema => either({ type: 'null' }, closed(properties))

const SERVICE = closed({
  image: TEXT,
  build: closed({ context: TEXT, dockerfile: TEXT }, 'context'),
  command: either(TEXT, TEXTS),
  environment: VARIABLES,
  hostname: matching(/^[a-z][a-z0-9-]*$/),
  depends_on: mapOf(
    closed({ condition: oneOf('service_started', 'service_healthy', 'service_completed_successfully') }, 'condition'),
  ),
  healthcheck: closed({ test: either(TEXT, TEXTS), interval: DURATION, timeout: DURATION, retries: COUNT }),
  restart: matching(/^(no|always|unless-stopped|on-failure(:\d+)?)$/),
  stop_grace_period: DURATION,
  read_only: { type: 'boolean' },
  tmpfs: either(TEXT, TEXTS),
  shm_size: matching(/^\d+(b|k|kb|m|mb|g|gb)$/),
  cap_add: TEXTS,
  cap_drop: TEXTS,
  security_opt: TEXTS,
  sysctls: mapOf(either(COUNT, TEXT)),
  mem_limit: matching(/^\d+(b|k|kb|m|mb|g|gb)$/),
  ulimits: mapOf(COUNT),
  secrets: TEXTS,
  volumes: listOf(matching(/^[^:]+:\/[^:]*(:(ro|rw))?$/)),
  ports: listOf(matching(/^([\d.]+:)?\d+:\d+(\/(tcp|udp))?$/)),
  networks: either(TEXTS, mapOf(EMPTY_OR({ ipv4_address: matching(/^\d+(\.\d+){3}$/) }))),
})

const NETWORK = EMPTY_OR({
  ipam: closed({ config: listOf(closed({ subnet: matching(/^[\d.]+\/\d+$/) })) }),
})

/** A file, which can override another file. Keys that start with `x-` contain fragments. */
export const COMPOSE_FILE: Schema = {
  ...closed(
    {
      name: matching(/^[a-z0-9][a-z0-9_-]*$/),
      services: mapOf(SERVICE),
      secrets: mapOf(closed({ file: TEXT })),
      volumes: mapOf(EMPTY_OR({})),
      networks: mapOf(NETWORK),
    },
    'services',
  ),
  patternProperties: { '^x-': {} },
}
