// What a rule may read about a request: one table from which the checks at save time, the fields a policy requires, the
// sources it needs and the README's table are all derived. Values are made when they are read, and only then.
import type { OptionalField } from '../domain/target.ts'
import type { AddressValue } from './address-value.ts'
import type { Evaluation } from './evaluation.ts'
import { FactUnavailableError } from './fact-unavailable.ts'
import { durationValue } from './syntax.ts'
import type { FactNeed, GeographyFacts, IdentityFacts } from './types.ts'
import type { Uint256 } from './uint256.ts'

export type FactType =
  | 'address'
  | 'uint256'
  | 'int'
  | 'bool'
  | 'string'
  | 'google.protobuf.Timestamp'
  | 'google.protobuf.Duration'

/** One fact. `maxLength` bounds a string in UTF-16 code units, for the cost estimate. */
export interface FactField {
  readonly type: FactType
  readonly description: string
  readonly maxLength?: number
  /** The request field that has to be sent when a rule reads this fact (decisions §2). */
  readonly requires?: OptionalField
  /** The source that has to be asked when a rule reads this fact. */
  readonly need?: FactNeed
  /** What is wrong with a literal that this fact is compared with, because it could never be equal; else null. */
  readonly refuseLiteral?: (literal: string) => string | null
  /** @throws FactUnavailableError when it can't be had. */
  readonly read: (evaluation: Evaluation) => unknown
}

export type FactGroup = Readonly<Record<string, FactField>>

const SELECTOR = /^0x[0-9a-f]{8}$/
const DISCRIMINATOR = /^0x[0-9a-f]{16}$/
const COUNTRY = /^[A-Z]{2}$/
const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

const oneOf =
  (allowed: readonly string[], message: string) =>
  (literal: string): string | null =>
    allowed.includes(literal) ? null : message

const matching =
  (pattern: RegExp, message: string, mayBeEmpty = false) =>
  (literal: string): string | null =>
    pattern.test(literal) || (mayBeEmpty && literal === '') ? null : message

const SECONDS_PER_DAY = 86_400

const geographyField = (
  name: string,
  field: Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral'>,
  select: (geography: GeographyFacts) => unknown,
): FactField => {
  const unavailable = new FactUnavailableError(`client.${name}`)
  return {
    ...field,
    requires: 'user_ip',
    need: { kind: 'geography' },
    read: ({ request }) => {
      const geography = request.external?.geography
      const value = geography == null ? null : select(geography)
      if (value === null) throw unavailable
      return value
    },
  }
}

const identityField = (
  name: string,
  field: Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral'>,
  select: (identity: IdentityFacts) => unknown,
): FactField => {
  const unavailable = new FactUnavailableError(`identity.${name}`)
  return {
    ...field,
    need: { kind: 'identity' },
    read: ({ request }) => {
      const identity = request.external?.identity
      const value = identity == null ? null : select(identity)
      if (value === null) throw unavailable
      return value
    },
  }
}

const request = {
  time: {
    type: 'google.protobuf.Timestamp',
    description: 'The time of the request, whole seconds, UTC.',
    read: (evaluation) => new Date(evaluation.request.nowSeconds * 1000),
  },
  hour: {
    type: 'int',
    description: 'Its hour in UTC, 0 to 23.',
    read: (evaluation) => BigInt(Math.floor((evaluation.request.nowSeconds % SECONDS_PER_DAY) / 3600)),
  },
  weekday: {
    type: 'string',
    maxLength: 9,
    description: 'Its day of the week in UTC, for example "monday".',
    refuseLiteral: oneOf(WEEKDAYS, `request.weekday is one of ${WEEKDAYS.join(', ')}`),
    // 1970-01-01 was a Thursday.
    read: (evaluation) => WEEKDAYS[(Math.floor(evaluation.request.nowSeconds / SECONDS_PER_DAY) + 4) % 7],
  },
  time_of_day: {
    type: 'google.protobuf.Duration',
    description: 'Time since midnight UTC: request.time_of_day >= duration("9h30m").',
    read: (evaluation) => durationValue(evaluation.request.nowSeconds % SECONDS_PER_DAY),
  },
} satisfies FactGroup

const client = {
  ip: {
    type: 'string',
    maxLength: 64,
    requires: 'user_ip',
    description: 'The end user’s IP address in its shortest form.',
    read: (evaluation) => evaluation.request.userIp,
  },
  located: geographyField(
    'located',
    { type: 'bool', description: 'Whether the country of the IP address is known.' },
    ({ country }) => country !== null,
  ),
  country: geographyField(
    'country',
    {
      type: 'string',
      maxLength: 2,
      description: 'Country, ISO 3166-1: "US". Fails while client.located is false.',
      refuseLiteral: matching(COUNTRY, 'client.country is two capital letters (ISO 3166-1), for example "US"'),
    },
    ({ country }) => country,
  ),
  region_known: geographyField(
    'region_known',
    { type: 'bool', description: 'Whether the region of the IP address is known.' },
    ({ region }) => region !== null,
  ),
  region: geographyField(
    'region',
    {
      type: 'string',
      maxLength: 6,
      description: 'Region, ISO 3166-2: "US-NY". Fails while client.region_known is false.',
      refuseLiteral: matching(REGION, 'client.region is a country and a region (ISO 3166-2), for example "US-NY"'),
    },
    ({ region }) => region,
  ),
  anonymity_known: geographyField(
    'anonymity_known',
    { type: 'bool', description: 'Whether the data tells anonymous networks for this address.' },
    ({ anonymous }) => anonymous !== null,
  ),
  anonymous: geographyField(
    'anonymous',
    { type: 'bool', description: 'An anonymous network of any kind. Fails while client.anonymity_known is false.' },
    ({ anonymous }) => anonymous,
  ),
  vpn: geographyField(
    'vpn',
    { type: 'bool', description: 'A VPN. Fails where the data does not say.' },
    ({ vpn }) => vpn,
  ),
  proxy: geographyField(
    'proxy',
    { type: 'bool', description: 'A public or residential proxy. Fails where the data does not say.' },
    ({ proxy }) => proxy,
  ),
  tor: geographyField(
    'tor',
    { type: 'bool', description: 'A Tor exit. Fails where the data does not say.' },
    ({ tor }) => tor,
  ),
  hosting: geographyField(
    'hosting',
    { type: 'bool', description: 'A hosting provider. Fails where the data does not say.' },
    ({ hosting }) => hosting,
  ),
} satisfies FactGroup

const identity = {
  verified: identityField(
    'verified',
    { type: 'bool', description: 'Whether the wallet is verified at the organization’s current level.' },
    ({ verified }) => verified,
  ),
  type: identityField(
    'type',
    {
      type: 'string',
      maxLength: 10,
      description: '"individual" or "business"; empty when not verified.',
      refuseLiteral: oneOf(['individual', 'business', ''], 'identity.type is "individual", "business" or empty'),
    },
    ({ type }) => type ?? '',
  ),
  level: identityField(
    'level',
    { type: 'int', description: '1 basic, 2 standard, 3 enhanced; 0 when not verified.' },
    ({ level }) => BigInt(level),
  ),
  verified_at: identityField(
    'verified_at',
    { type: 'google.protobuf.Timestamp', description: 'When it was verified. Fails while identity.verified is false.' },
    ({ verifiedAtSeconds }) => (verifiedAtSeconds === null ? null : new Date(verifiedAtSeconds * 1000)),
  ),
} satisfies FactGroup

const call = {
  decoded: {
    type: 'bool',
    requires: 'data',
    description: 'Whether the data is a call of a function in the policy’s abi (or idl), complete and well-formed.',
    read: (evaluation) => evaluation.call !== null,
  },
  function: {
    type: 'string',
    maxLength: 128,
    requires: 'data',
    description: 'Its name; empty when it could not be decoded.',
    read: (evaluation) => evaluation.call?.name ?? '',
  },
  signature: {
    type: 'string',
    maxLength: 1024,
    requires: 'data',
    description: 'Name and types: "transfer(address,uint256)". Empty when it could not be decoded.',
    read: (evaluation) => evaluation.call?.signature ?? '',
  },
  discriminator: {
    type: 'string',
    maxLength: 18,
    requires: 'data',
    description: 'The first eight bytes of the data as lower-case 0x-hex; empty when there are fewer.',
    refuseLiteral: matching(DISCRIMINATOR, 'call.discriminator is 0x and 16 lower-case hex digits, or empty', true),
    read: ({ request: { data } }) => (data.length < 18 ? '' : data.slice(0, 18).toLowerCase()),
  },
} satisfies FactGroup

export const FACTS: Readonly<Record<string, FactGroup>> = {
  wallet: {
    address: {
      type: 'address',
      description: 'The end user’s wallet.',
      read: (evaluation): AddressValue => evaluation.wallet,
    },
  },
  chain: {
    name: {
      type: 'string',
      maxLength: 64,
      description: 'For example "ethereum".',
      read: (evaluation) => evaluation.request.chainName,
    },
    id: {
      type: 'int',
      description: 'The EIP-155 chain id; 0 on Solana.',
      read: (evaluation) => BigInt(evaluation.request.chainId),
    },
    family: {
      type: 'string',
      maxLength: 8,
      description: '"evm" or "solana".',
      refuseLiteral: oneOf(['evm', 'solana'], 'chain.family is "evm" or "solana"'),
      read: (evaluation) => evaluation.request.chainFamily,
    },
  },
  target: {
    address: {
      type: 'address',
      description: 'The contract or program; the zero address when the request names a project.',
      read: (evaluation): AddressValue => evaluation.target,
    },
  },
  tx: {
    value: {
      type: 'uint256',
      requires: 'msg_value',
      description: 'Native tokens sent, in wei or lamports.',
      read: (evaluation): Uint256 => evaluation.value,
    },
    data_size: {
      type: 'int',
      requires: 'data',
      description: 'Bytes of call data.',
      read: ({ request: { data } }) => BigInt((data.length - 2) / 2),
    },
    selector: {
      type: 'string',
      maxLength: 10,
      requires: 'data',
      description: 'The first four bytes of the call data as lower-case 0x-hex; empty when there are fewer.',
      refuseLiteral: matching(
        SELECTOR,
        'tx.selector is 0x and 8 lower-case hex digits, or empty when the data is shorter',
        true,
      ),
      read: ({ request: { data } }) => (data.length < 10 ? '' : data.slice(0, 10).toLowerCase()),
    },
  },
  call,
  client,
  identity,
  request,
}
