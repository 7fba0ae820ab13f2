// Known lists, from the publishers' own URLs. Redirects are followed only to the given hosts.

export const SCREENING_FORMATS = ['ofac-csv', 'un-xml', 'eu-xml', 'uk-xml', 'csv', 'json'] as const
export type ScreeningFormat = (typeof SCREENING_FORMATS)[number]

export interface Publisher {
  readonly list: string
  readonly title: string
  readonly format: ScreeningFormat
  /** URLs in the order that the reader expects. */
  readonly urls: readonly string[]
  readonly redirectsTo: readonly string[]
  readonly intervalSeconds: number
  /** A list with fewer entries counts as incomplete. */
  readonly entriesMin: number
}

const HOUR = 3_600
const OFAC = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports'
const OFAC_FILES = ['wc2h-sls-prod-public-published.s3.us-gov-west-1.amazonaws.com']

export const PUBLISHERS: readonly Publisher[] = [
  {
    list: 'ofac-sdn',
    title: 'US Treasury, Specially Designated Nationals',
    format: 'ofac-csv',
    urls: [`${OFAC}/SDN.CSV`, `${OFAC}/ALT.CSV`, `${OFAC}/ADD.CSV`, `${OFAC}/SDN_COMMENTS.CSV`],
    redirectsTo: OFAC_FILES,
    intervalSeconds: 6 * HOUR,
    entriesMin: 5_000,
  },
  {
    list: 'us-consolidated',
    title: 'US Treasury, Consolidated Sanctions List (non-SDN)',
    format: 'ofac-csv',
    urls: [`${OFAC}/CONS_PRIM.CSV`, `${OFAC}/CONS_ALT.CSV`, `${OFAC}/CONS_ADD.CSV`, `${OFAC}/CONS_COMMENTS.CSV`],
    redirectsTo: OFAC_FILES,
    intervalSeconds: 12 * HOUR,
    entriesMin: 100,
  },
  {
    list: 'un-sc',
    title: 'United Nations Security Council, consolidated list',
    format: 'un-xml',
    urls: ['https://scsanctions.un.org/resources/xml/en/consolidated.xml'],
    redirectsTo: ['unsolprodfiles.blob.core.windows.net'],
    intervalSeconds: 6 * HOUR,
    entriesMin: 500,
  },
  {
    list: 'eu-fsf',
    title: 'European Union, consolidated financial sanctions list',
    format: 'eu-xml',
    urls: ['https://webgate.ec.europa.eu/fsd/fsf/public/files/xmlFullSanctionsList_1_1/content?token=dG9rZW4tMjAxNw'],
    redirectsTo: [],
    intervalSeconds: 6 * HOUR,
    entriesMin: 2_000,
  },
  {
    list: 'uk-sanctions',
    title: 'United Kingdom, UK Sanctions List',
    format: 'uk-xml',
    urls: ['https://sanctionslist.fcdo.gov.uk/docs/UK-Sanctions-List.xml'],
    redirectsTo: [],
    intervalSeconds: 6 * HOUR,
    entriesMin: 2_000,
  },
]

export const publisherOf = (list: string): Publisher | null =>
  PUBLISHERS.find((publisher) => publisher.list === list) ?? null
