// Every setting of the core, once: its flag, its variable, its default, its check and its help line. Modules declare their
// own. How a value is parsed is in setting-values.ts, where its text comes from in given-values.ts.
import { resolve } from 'node:path'
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
  parseScanner,
  parseWitnesses,
} from './setting-values.ts'

/** A setting that is unknown, malformed or out of range. `message` is one clear line that names the setting. */
export class SettingInvalidError extends NamedError {}

export const SETTINGS = {
  config: setting({
    name: 'config',
    description: 'Config file (YAML or JSON): these names as keys, `chains` and `screeners`',
    defaultText: '',
    parse: (text) => text,
  }),
  without: setting({
    name: 'without',
    description: 'Modules to leave out, with commas between: their processes, operations, metrics and settings',
    defaultText: '',
    parse: parseNames,
  }),
  dataDir: setting({
    name: 'data-dir',
    description: 'Folder for the database, keystores and decision log; made on the first start',
    defaultText: './data',
    parse: parsePath,
  }),
  store: secretSetting({
    name: 'store',
    description:
      'Database: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full for several machines; by default a file in the data folder',
  }),
  apiListen: setting({
    name: 'api-listen',
    description: 'Address of the attestation and identity APIs',
    defaultText: '127.0.0.1:8080',
    parse: parseListen,
  }),
  apiUrl: setting({
    name: 'api-url',
    description: 'Public address of the attestation and identity APIs; by default the one they listen on',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  noDemo: setting({
    name: 'no-demo',
    description:
      'For production: the first start makes no demo organization, no policy and no API keys, only the attesters (true or false)',
    defaultText: 'false',
    parse: parseBoolean,
  }),
  docs: setting({
    name: 'docs',
    description:
      'Serve the API reference at /docs of the dashboard’s listener, its documents, and /openapi.json of the API’s (true or false)',
    defaultText: 'true',
    parse: parseBoolean,
  }),
  metricsListen: setting({
    name: 'metrics-listen',
    description:
      'Address of a listener for /metrics alone, or `api`: the API’s listener, for every caller. By default, the API’s listener answers /metrics to programs of this machine only',
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
    description: 'Public address of the verification page, as people open it; by default the one it listens on',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  streamsMax: setting({
    name: 'streams-max',
    description: 'Open event streams of a process, shared among organizations; further ones get 429 (1 to 1000000)',
    defaultText: '20000',
    parse: parseInteger(1, 1_000_000),
  }),
  streamsPerKeyMax: setting({
    name: 'streams-per-key-max',
    description: 'Open event streams of one API key; further ones get 429 (1 to 1000000)',
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
    description: 'Public address of the dashboard, as people open it; by default the one it listens on',
    defaultText: '',
    parse: parsePublicUrl,
  }),
  trustedProxies: setting({
    name: 'trusted-proxies',
    description:
      'Networks of your proxies, as 10.0.0.0/8,fd00::/8: of X-Forwarded-For the rightmost address outside of them is the client’s',
    defaultText: '',
    parse: parseNetworks,
  }),
  tlsCertificate: setting({
    name: 'tls-certificate',
    description:
      'PEM file with the certificate, then those that lead to its authority: the listeners speak https; one file for all, or api=FILE,portal=FILE,dashboard=FILE,metrics=FILE',
    defaultText: '',
    parse: parseByListener,
  }),
  tlsKey: setting({
    name: 'tls-key',
    description: 'PEM file with the certificate’s private key, without a passphrase; named like tls-certificate',
    defaultText: '',
    parse: parseByListener,
  }),
  workers: setting({
    name: 'workers',
    description:
      'Signing workers of a process: auto (from the processors there are), 1 to 64, or 0: the thread that answers signs, for several processes',
    defaultText: 'auto',
    parse: parseCountOrAuto(0, 64),
  }),
  processes: setting({
    name: 'processes',
    description: 'Processes that share the API address (Linux): auto (one for about three processors), or 1 to 64',
    defaultText: '1',
    parse: parseCountOrAuto(1, PROCESSES_MAX),
  }),
  deadlineMs: setting({
    name: 'deadline-ms',
    description: 'Answer 408 after this many milliseconds (100 to 120000)',
    defaultText: '25000',
    parse: parseInteger(100, 120_000),
  }),
  queueLimit: setting({
    name: 'queue-limit',
    description: 'Requests waiting for a worker before further ones are refused with 503 (1 to 1000000)',
    defaultText: '10000',
    parse: parseInteger(1, 1_000_000),
  }),
  organizationWeights: setting({
    name: 'organization-weights',
    description: 'Parts of the workers’ time under load: acme=4,other=2; one that is not named has 1, or what *=N says',
    defaultText: '',
    parse: parseByOrganization(1_000),
  }),
  organizationConcurrency: setting({
    name: 'organization-concurrency',
    description:
      'Attestations of one organization under way at once in a process, then 429: acme=500,*=2000; no cap unless set',
    defaultText: '',
    parse: parseByOrganization(1_000_000),
  }),
  hangMs: setting({
    name: 'hang-ms',
    description: 'Replace a busy worker that made no progress for this long (100 to 60000)',
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
    description: 'Passphrase of the attester keystores; without it the first start makes one in the data folder',
  }),
  evidenceKey: secretSetting({
    name: 'evidence-key',
    description:
      'Key that evidence and webhook secrets are encrypted with, 64 hex digits; without it the first start makes one',
  }),
  accountKey: secretSetting({
    name: 'account-key',
    description:
      'Key that secrets of one-time codes are sealed with, 64 hex digits; without it the first start makes one',
  }),
  webhookReach: setting({
    name: 'webhook-reach',
    description: 'Where webhooks may lead: public, private (also private networks), or loopback (http to this machine)',
    defaultText: 'public',
    parse: parseChoice('public', 'private', 'loopback'),
  }),
  scanner: setting({
    name: 'scanner',
    description:
      'ClamAV’s clamd, which is asked about every document that people hand in: unix:/path, or tcp:HOST:PORT; none unless set',
    defaultText: '',
    parse: parseScanner,
  }),
  scannerAway: setting({
    name: 'scanner-away',
    description: 'While the scanner does not answer: refuse (503, people try again), or allow (documents go unscanned)',
    defaultText: 'refuse',
    parse: parseChoice('refuse', 'allow'),
  }),
  decisionsSync: setting({
    name: 'decisions-sync',
    description: 'Flush the decision log to the disk (fdatasync) before answering',
    defaultText: 'false',
    parse: parseBoolean,
  }),
  decisionsSegmentBytes: setting({
    name: 'decisions-segment-bytes',
    description: 'Start a new decision log segment after this many bytes (65536 to 10737418240)',
    defaultText: '268435456',
    parse: parseInteger(65_536, 10_737_418_240),
  }),
  decisionsIndex: setting({
    name: 'decisions-index',
    description: 'Where decisions are indexed for searches: auto (over PostgreSQL in one index of all nodes), or local',
    defaultText: 'auto',
    parse: parseChoice('auto', 'local'),
  }),
  logPublish: setting({
    name: 'log-publish',
    description:
      'Answer /checkpoint and /tile/… of the decision log’s tree on the API’s listener, without a key (true or false): they tell nothing of decisions but how many there are',
    defaultText: 'false',
    parse: parseBoolean,
  }),
  witnesses: setting({
    name: 'witnesses',
    description:
      'Who is asked to cosign heads of the decision log: KEY URL, several with commas between (countersign witness --listen)',
    defaultText: '',
    parse: parseWitnesses,
  }),
  witnessesRequired: setting({
    name: 'witnesses-required',
    description: 'Cosignatures that a head has to have, of the witnesses that are set (0 to 20)',
    defaultText: '1',
    parse: parseInteger(0, 20),
  }),
  witnessesWithinSeconds: setting({
    name: 'witnesses-within-seconds',
    description:
      'Within which a head has to have them; metrics, dashboard and doctor tell when it is late (10 to 3600)',
    defaultText: '60',
    parse: parseInteger(10, 3_600),
  }),
  warmUp: setting({
    name: 'warm-up',
    description:
      'Let workers evaluate costly policies before their first job (true or false): a start takes half a second longer, no first job does',
    defaultText: 'true',
    parse: parseBoolean,
  }),
  policyCacheSize: setting({
    name: 'policy-cache-size',
    description: 'Projects, bindings and policy revisions kept in memory (16 to 1000000)',
    defaultText: '20000',
    parse: parseInteger(16, 1_000_000),
  }),
  geoipFile: setting({
    name: 'geoip-file',
    description:
      'MMDB file that tells where an IP address is, for example GeoLite2-City.mmdb; read again when it changes',
    defaultText: '',
    parse: (text) => (text === '' ? '' : resolve(parsePath(text))),
  }),
  solanaMessagePrefix: setting({
    name: 'solana-message-prefix',
    description:
      'First bytes of the Solana statement (1 to 64 ASCII characters); the deployed program expects the default',
    defaultText: 'predicate_solana_attestation',
    parse: (text) => {
      if (!/^[\x21-\x7e]{1,64}$/.test(text)) throw new Error('must be 1 to 64 visible ASCII characters')
      return text
    },
  }),
  logLevel: setting({
    name: 'log-level',
    description: 'debug, info, warn or error',
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

/** The text of `--help`: the core's settings, then each module with its own. */
export const describeSettings = (modules: readonly ModuleSettings[]): string =>
  [
    ...Object.values(SETTINGS).map(describe),
    '  COUNTERSIGN_RPC_<CHAIN>[_FILE]\n      RPC URL of a chain, for example COUNTERSIGN_RPC_BASE: https, or http to loopback',
    '\nModules, each with its settings (--without NAME leaves one out):',
    ...modules.flatMap(({ name, summary, settings = {} }) => [
      `\n  ${name}: ${summary}`,
      ...Object.values(settings).map(describe),
    ]),
  ].join('\n')
