// Where the end user's IP address is, and whether it belongs to an anonymous network.
import { matching } from '../fact-field.ts'
import { matchingText } from '../literals.ts'
import { flag, object } from '../schema-shapes.ts'
import type { GeographyFacts } from '../types/facts.ts'
import { type FactSource, type FieldOptions, sourceField } from './source.ts'

const COUNTRY = /^[A-Z]{2}$/
const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/
const FLAGS = ['anonymous', 'vpn', 'proxy', 'tor', 'hosting'] as const

const geographyField = (name: string, options: FieldOptions, select: (geography: GeographyFacts) => unknown) =>
  sourceField({ kind: 'geography', part: 'geography' }, `client.${name}`, { ...options, requires: 'user_ip' }, select)

export const GEOGRAPHY: FactSource<'geography'> = {
  kind: 'geography',
  part: 'geography',
  group: 'client',
  words: 'geography of the client’s address',
  metered: false,
  digest: null,
  facts: {
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
  },
  readTest: (reader) => {
    reader.refuseUnknownKeys(['country', 'region', ...FLAGS])
    const told = (key: string): boolean | null => (reader.has(key) ? reader.bool(key) : null)
    const parseCountry = matchingText(COUNTRY, 'a country is two capital letters (ISO 3166-1)')
    const parseRegion = matchingText(REGION, 'a region is a country and a region (ISO 3166-2)')
    return {
      country: reader.has('country') ? reader.parsed('country', parseCountry) : null,
      region: reader.has('region') ? reader.parsed('region', parseRegion) : null,
      anonymous: told('anonymous'),
      vpn: told('vpn'),
      proxy: told('proxy'),
      tor: told('tor'),
      hosting: told('hosting'),
    }
  },
  testSchema: object('Geography of user_ip.', [], {
    country: { type: 'string', pattern: COUNTRY.source },
    region: { type: 'string', pattern: REGION.source },
    ...Object.fromEntries(FLAGS.map((name) => [name, flag])),
  }),
  example: { country: 'US', region: null, anonymous: false, vpn: false, proxy: false, tor: false, hosting: false },
}
