import { matchingText } from '../cel/literals.ts'
import { flag, object } from '../document/schema-shapes.ts'
import { matching } from '../fact-field.ts'
import { defineSource } from './source.ts'

/** Null fields are unknown for this address, which doesn't mean "no". */
export interface GeographyFacts {
  /** ISO 3166-1 alpha-2, uppercase. */
  readonly country: string | null
  /** ISO 3166-2 including the country, such as "US-NY". */
  readonly region: string | null
  /** True if any field below is true, or the file marks the network as anonymous. */
  readonly anonymous: boolean | null
  readonly vpn: boolean | null
  readonly proxy: boolean | null
  readonly tor: boolean | null
  readonly hosting: boolean | null
}

const COUNTRY = /^[A-Z]{2}$/
const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/
const FLAGS = ['anonymous', 'vpn', 'proxy', 'tor', 'hosting'] as const

export const GEOGRAPHY = defineSource<GeographyFacts>()({
  kind: 'geography',
  part: 'geography',
  group: 'client',
  words: 'geography of the client’s address',
  metered: false,
  digest: null,
  requires: 'user_ip',
  fields: {
    located: {
      type: 'bool',
      description: 'Whether the country of the address is known.',
      select: ({ country }) => country !== null,
    },
    country: {
      type: 'string',
      maxLength: 2,
      description: 'ISO 3166-1 code of the country, such as "US". Fails if client.located is false.',
      refuseLiteral: matching(COUNTRY, 'client.country must be two capital letters (ISO 3166-1), for example "US"'),
      select: ({ country }) => country,
    },
    region_known: {
      type: 'bool',
      description: 'Whether the region of the address is known.',
      select: ({ region }) => region !== null,
    },
    region: {
      type: 'string',
      maxLength: 6,
      description: 'ISO 3166-2 code of the region, such as "US-NY". Fails if client.region_known is false.',
      refuseLiteral: matching(REGION, 'client.region must be a country and a region (ISO 3166-2), for example "US-NY"'),
      select: ({ region }) => region,
    },
    anonymity_known: {
      type: 'bool',
      description: 'Whether the geography file has anonymity data for the address.',
      select: ({ anonymous }) => anonymous !== null,
    },
    anonymous: {
      type: 'bool',
      description: 'Whether the address belongs to an anonymous network. Fails if client.anonymity_known is false.',
      select: ({ anonymous }) => anonymous,
    },
    vpn: {
      type: 'bool',
      description: 'Whether the address belongs to a VPN. Fails if there is no VPN data for the address.',
      select: ({ vpn }) => vpn,
    },
    proxy: {
      type: 'bool',
      description:
        'Whether the address is a public or residential proxy. Fails if there is no proxy data for the address.',
      select: ({ proxy }) => proxy,
    },
    tor: {
      type: 'bool',
      description: 'Whether the address is a Tor exit node. Fails if there is no Tor data for the address.',
      select: ({ tor }) => tor,
    },
    hosting: {
      type: 'bool',
      description:
        'Whether the address belongs to a hosting provider. Fails if there is no hosting data for the address.',
      select: ({ hosting }) => hosting,
    },
  },
  readTest: (reader) => {
    const optional = (key: string): boolean | null => (reader.has(key) ? reader.bool(key) : null)
    const parseCountry = matchingText(COUNTRY, 'a country must be two capital letters (ISO 3166-1)')
    const parseRegion = matchingText(REGION, 'a region must be a country and a region (ISO 3166-2)')
    return {
      country: reader.has('country') ? reader.parsed('country', parseCountry) : null,
      region: reader.has('region') ? reader.parsed('region', parseRegion) : null,
      anonymous: optional('anonymous'),
      vpn: optional('vpn'),
      proxy: optional('proxy'),
      tor: optional('tor'),
      hosting: optional('hosting'),
    }
  },
  testSchema: object('Geography of user_ip.', [], {
    country: { type: 'string', pattern: COUNTRY.source },
    region: { type: 'string', pattern: REGION.source },
    ...Object.fromEntries(FLAGS.map((name) => [name, flag])),
  }),
  example: { country: 'US', region: null, anonymous: false, vpn: false, proxy: false, tor: false, hosting: false },
})
