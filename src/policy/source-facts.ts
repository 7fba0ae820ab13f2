// Facts that sources beyond the request give: where the client is, and who the wallet belongs to.

import { type FactField, type FactGroup, intOf, isOfType, matching, oneOf, timeOf } from './fact-field.ts'
import { FactUnavailableError } from './fact-unavailable.ts'
import type { GeographyFacts, IdentityFacts } from './types/facts.ts'
import type { FactNeed } from './types/needs.ts'

const COUNTRY = /^[A-Z]{2}$/
const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/

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
      if (!isOfType(field, value)) throw unavailable
      return value
    },
  }
}

/** Whose identity: the fact's group, the source that tells it, and where its answer stands. */
interface IdentitySource {
  readonly group: string
  readonly need: FactNeed
  readonly part: 'identity' | 'onBehalfIdentity'
}

const identityField = (
  { group, need, part }: IdentitySource,
  name: string,
  field: Pick<FactField, 'type' | 'description' | 'maxLength' | 'refuseLiteral'>,
  select: (identity: IdentityFacts) => unknown,
): FactField => {
  const unavailable = new FactUnavailableError(`${group}.${name}`)
  return {
    ...field,
    need,
    read: ({ request }) => {
      const identity = request.external?.[part]
      const value = identity == null ? null : select(identity)
      if (!isOfType(field, value)) throw unavailable
      return value
    },
  }
}

export const client = {
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

/** The facts of the identity behind an address, which descriptions call `whose`. */
const identityGroup = (source: IdentitySource, whose: string) =>
  ({
    verified: identityField(
      source,
      'verified',
      { type: 'bool', description: `Whether ${whose} is verified at the organization’s current level.` },
      ({ verified }) => verified,
    ),
    type: identityField(
      source,
      'type',
      {
        type: 'string',
        maxLength: 10,
        description: '"individual" or "business"; empty when not verified.',
        refuseLiteral: oneOf(
          ['individual', 'business', ''],
          `${source.group}.type is "individual", "business" or empty`,
        ),
      },
      ({ type }) => type ?? '',
    ),
    level: identityField(
      source,
      'level',
      { type: 'int', description: '1 basic, 2 standard, 3 enhanced; 0 when not verified.' },
      ({ level }) => intOf(level),
    ),
    verified_at: identityField(
      source,
      'verified_at',
      {
        type: 'google.protobuf.Timestamp',
        description: `When it was verified. Fails while ${source.group}.verified is false.`,
      },
      ({ verifiedAtSeconds }) => timeOf(verifiedAtSeconds),
    ),
  }) satisfies FactGroup

export const identity = identityGroup({ group: 'identity', need: { kind: 'identity' }, part: 'identity' }, 'the wallet')

export const onBehalfIdentity = identityGroup(
  { group: 'onBehalf', need: { kind: 'on-behalf-identity' }, part: 'onBehalfIdentity' },
  'onBehalf.address',
)
