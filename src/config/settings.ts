// Settings of the core; modules declare their own settings.
import { resolve } from 'node:path'
import { LIST_ENTRIES_PER_ORGANIZATION_MAX } from '../domain/list.ts'
import { NamedError } from '../lib/named-error.ts'
import { parseNetworks } from '../server/client-address.ts'
import type { ModuleSettings } from './module-settings.ts'
import { PROCESSES_MAX } from './process-plan.ts'
import { type Setting, secretSetting, setting, variableOf } from './setting.ts'
import {
  parseBoolean,
  parseByListener,
  parseByOrganization,
  parseChoice,
  parseCountOrAuto,
  parseInteger,
  parseListen,
  parseNames,
  parsePath,
  parsePublicUrl,
  parseRoles,
  parseScanner,
} from './setting-values.ts'

/** `message` is one line that names the setting. */
export class SettingInvalidError extends NamedError {}

export const SETTINGS = {
  config: setting({
    name: 'config',
    description: 'Config file (YAML or JSON) with setting names, `chains` and `screeners` as keys',
    defaultText: '',
    parse: (text) => text,
  }),
  without: setting({
    name: 'without',
    description: 'Comma-separated list of disabled modules',
    defaultText: '',
    parse: parseNames,
  }),
  serve: setting({
    name: 'serve',
    description: 'Comma-separated roles of this process: attestation, identity, portal, dashboard; or all',
    defaultText: 'all',
    parse: parseRoles,
  }),
  dataDir: setting({
    name: 'data-dir',
    description: 'Folder for the database, keystores and decision log',
    defaultText: './data',
    parse: parsePath,
  }),
  store: secretSetting({
    name: 'store',
    description:
      'Database: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full for several machines. Defaults to a file in the data folder',
  }),
  apiListen: setting({
    name: 'api-listen',
    description: 'Address of the attestation and identity APIs',
    defaultText: '127.0.0.1:8080',
    parse: parseListen,
  }),
  apiUrl: setting({
    name: 'api-url',
    description: 'Public address of the attestation and identity APIs. Defaults to the address of their listener',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  noDemo: setting({
    name: 'no-demo',
    description:
      'For production: at first startup, create only the attesters, without a demo organization, policy or API keys',
    defaultText: 'false',
    parse: parseBoolean,
  }),
  docs: setting({
    name: 'docs',
    description:
      'Serve the API reference at /docs of the dashboard listener, and the OpenAPI documents on both listeners',
    defaultText: 'true',
    parse: parseBoolean,
  }),
  metricsListen: setting({
    name: 'metrics-listen',
    description:
      'Address of a separate listener for /metrics, or `api` to serve it to all callers of the API listener. By default, only programs on this machine can read /metrics',
    defaultText: '',
    parse: (text) => (text === '' ? null : text === 'api' ? text : parseListen(text)),
  }),
  portalListen: setting({
    name: 'portal-listen',
    description: 'Address of the hosted verification page',
    defaultText: '127.0.0.1:8081',
    parse: parseListen,
  }),
  portalUrl: setting({
    name: 'portal-url',
    description: 'Public address of the verification page. Defaults to the address of its listener',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  streamsMax: setting({
    name: 'streams-max',
    description:
      'Maximum open event streams per process, shared among organizations; further streams get 429 (1 to 1000000)',
    defaultText: '20000',
    parse: parseInteger(1, 1_000_000),
  }),
  streamsPerKeyMax: setting({
    name: 'streams-per-key-max',
    description: 'Maximum open event streams per API key and process; further streams get 429 (1 to 1000000)',
    defaultText: '10000',
    parse: parseInteger(1, 1_000_000),
  }),
  dashboardListen: setting({
    name: 'dashboard-listen',
    description: 'Address of the dashboard and admin API',
    defaultText: '127.0.0.1:8082',
    parse: parseListen,
  }),
  dashboardUrl: setting({
    name: 'dashboard-url',
    description: 'Public address of the dashboard. Defaults to the address of its listener',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  trustedProxies: setting({
    name: 'trusted-proxies',
    description:
      'Networks of your proxies, such as 10.0.0.0/8,fd00::/8. The client address is the rightmost address in X-Forwarded-For that is outside these networks',
    defaultText: '',
    parse: parseNetworks,
  }),
  tlsCertificate: setting({
    name: 'tls-certificate',
    description:
      'PEM file with the server and intermediate certificates: one file for all listeners, or api=FILE,portal=FILE,dashboard=FILE,metrics=FILE',
    defaultText: '',
    parse: parseByListener,
  }),
  tlsKey: setting({
    name: 'tls-key',
    description: 'PEM file with the private key, without a passphrase, in the same form as tls-certificate',
    defaultText: '',
    parse: parseByListener,
  }),
  workers: setting({
    name: 'workers',
    description:
      'Signing workers per process: auto (based on the number of processors), 1 to 64, or 0 to sign on the main thread',
    defaultText: 'auto',
    parse: parseCountOrAuto(0, 64),
  }),
  processes: setting({
    name: 'processes',
    description: 'Processes that share the API address (Linux): auto (about one per three processors), or 1 to 64',
    defaultText: '1',
    parse: parseCountOrAuto(1, PROCESSES_MAX),
  }),
  deadlineMs: setting({
    name: 'deadline-ms',
    description: 'Milliseconds until a request gets 408 (100 to 120000)',
    defaultText: '25000',
    parse: parseInteger(100, 120_000),
  }),
  queueLimit: setting({
    name: 'queue-limit',
    description: 'Maximum requests that wait for a worker; further requests get 503 (1 to 1000000)',
    defaultText: '10000',
    parse: parseInteger(1, 1_000_000),
  }),
  listEntriesMax: setting({
    name: 'list-entries-max',
    description:
      'Maximum entries in all address lists of an organization, in the memory of each process (1000 to 1000000000)',
    defaultText: String(LIST_ENTRIES_PER_ORGANIZATION_MAX),
    parse: parseInteger(1_000, 1_000_000_000),
  }),
  organizationWeights: setting({
    name: 'organization-weights',
    description:
      'Weights of organizations when all workers are busy: acme=4,other=2. Other organizations have 1, or N with *=N',
    defaultText: '',
    parse: parseByOrganization(1_000),
  }),
  organizationConcurrency: setting({
    name: 'organization-concurrency',
    description:
      'Maximum attestations in progress per organization and process: acme=500,*=2000; further requests get 429. Defaults to no limit',
    defaultText: '',
    parse: parseByOrganization(1_000_000),
  }),
  hangMs: setting({
    name: 'hang-ms',
    description: 'Milliseconds without progress after which a busy worker is replaced (100 to 60000)',
    defaultText: '2000',
    parse: parseInteger(100, 60_000),
  }),
  signer: setting({
    name: 'signer',
    description: 'secp256k1 backend: auto, libsecp256k1, secp256k1-node or noble',
    defaultText: 'auto',
    parse: parseChoice('auto', 'libsecp256k1', 'secp256k1-node', 'noble'),
  }),
  passphrase: secretSetting({
    name: 'passphrase',
    description: 'Passphrase of the attester keystores. By default, created in the data folder at first startup',
  }),
  evidenceKey: secretSetting({
    name: 'evidence-key',
    description: 'Key for evidence and webhook secrets, 64 hex digits. By default, created at first startup',
  }),
  accountKey: secretSetting({
    name: 'account-key',
    description: 'Key for the secrets of one-time codes, 64 hex digits. By default, created at first startup',
  }),
  webhookReach: setting({
    name: 'webhook-reach',
    description:
      'Permitted webhook addresses: public, private (also private networks), or loopback (also http to this machine)',
    defaultText: 'public',
    parse: parseChoice('public', 'private', 'loopback'),
  }),
  scanner: setting({
    name: 'scanner',
    description: 'Address of ClamAV’s clamd for uploaded documents: unix:/path or tcp:HOST:PORT. Defaults to no scan',
    defaultText: '',
    parse: parseScanner,
  }),
  scannerAway: setting({
    name: 'scanner-away',
    description: 'Uploads while the scanner is unavailable: refuse (503) or allow (without a scan)',
    defaultText: 'refuse',
    parse: parseChoice('refuse', 'allow'),
  }),
  decisionsSync: setting({
    name: 'decisions-sync',
    description: 'Flush the decision log to disk (fdatasync) before each response',
    defaultText: 'false',
    parse: parseBoolean,
  }),
  decisionsSegmentBytes: setting({
    name: 'decisions-segment-bytes',
    description: 'Bytes after which a new decision log segment starts (65536 to 10737418240)',
    defaultText: '268435456',
    parse: parseInteger(65_536, 10_737_418_240),
  }),
  decisionsIndex: setting({
    name: 'decisions-index',
    description: 'Search index of decisions: auto (with PostgreSQL, one index for all nodes) or local',
    defaultText: 'auto',
    parse: parseChoice('auto', 'local'),
  }),
  warmUp: setting({
    name: 'warm-up',
    description: 'Evaluate expensive policies before the first job. This delays startup by half a second',
    defaultText: 'true',
    parse: parseBoolean,
  }),
  policyCacheSize: setting({
    name: 'policy-cache-size',
    description: 'Maximum projects, bindings and policy revisions in memory (16 to 1000000)',
    defaultText: '20000',
    parse: parseInteger(16, 1_000_000),
  }),
  geoipFile: setting({
    name: 'geoip-file',
    description: 'MMDB file with the location of IP addresses, read again when it changes',
    defaultText: '',
    parse: (text) => (text === '' ? '' : resolve(parsePath(text))),
  }),
  solanaMessagePrefix: setting({
    name: 'solana-message-prefix',
    description: 'First bytes of the Solana statement (1 to 64 ASCII characters); the program expects the default',
    defaultText: 'predicate_solana_attestation',
    parse: (text) => {
      if (!/^[\x21-\x7e]{1,64}$/.test(text)) throw new Error('must be 1 to 64 visible ASCII characters')
      return text
    },
  }),
  logLevel: setting({
    name: 'log-level',
    description: 'Log level: debug, info, warn or error',
    defaultText: 'info',
    parse: parseChoice('debug', 'info', 'warn', 'error'),
  }),
} as const

export type SettingKey = keyof typeof SETTINGS

const describe = ({ name, description, defaultText, secret }: Setting<unknown>): string => {
  const how = secret === true ? `${variableOf(name)}[_FILE]` : `--${name}, ${variableOf(name)}`
  const byDefault = defaultText === '' ? '' : ` (default ${defaultText})`
  return `  ${how}\n      ${description}${byDefault}`
}

/** Returns the text of `--help`: settings of the core, then of each module. */
export const describeSettings = (modules: readonly ModuleSettings[]): string =>
  [
    ...Object.values(SETTINGS).map(describe),
    '  COUNTERSIGN_RPC_<CHAIN>[_FILE]\n      RPC URL of a chain, for example COUNTERSIGN_RPC_BASE: https, or http to loopback',
    '\nModules and their settings (--without NAME disables a module):',
    ...modules.flatMap(({ name, summary, settings = {} }) => [
      `\n  ${name}: ${summary}`,
      ...Object.values(settings).map(describe),
    ]),
  ].join('\n')
