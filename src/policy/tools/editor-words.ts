// Completions of conditions as extra members of the JSON Schema, for the YAML extension of Visual Studio Code. Source:
// https://github.com/redhat-developer/vscode-yaml, https://code.visualstudio.com/docs/languages/json.

import type { Schema } from '../document/schema-shapes.ts'
import { FACTS } from '../facts.ts'
import { SESSION_FACTS } from '../session-facts.ts'

interface Word {
  readonly label: string
  readonly description: string
}

export const FUNCTION_WORDS: readonly Word[] = [
  { label: 'in_list(wallet.address, "name")', description: 'Whether a list contains an address.' },
  {
    label: 'in_list(wallet.address, "name", days(2))',
    description: 'Whether a list contains an address. Fails if the list is older than the maximum age.',
  },
  {
    label: 'screener("name").flagged',
    description:
      'Result of a screener for the wallet; also .score (a whole number; the screener defines its range) and .categories.',
  },
  {
    label: 'screener("name", onBehalf.address).flagged',
    description: 'Result of a screener for the represented user.',
  },
  { label: 'velocity.count(hours(1))', description: 'Number of compliant decisions for this wallet within a window.' },
  {
    label: 'velocity.value(days(1))',
    description: 'Amount of native tokens in compliant decisions for this wallet on this chain, within a window.',
  },
  { label: 'address("0x0000000000000000000000000000000000000000")', description: 'Address of any chain family.' },
  { label: 'uint256("1")', description: 'Whole number from 0 to 2^256 - 1.' },
  { label: 'ether("1.5")', description: 'Amount in wei.' },
  { label: 'gwei("1")', description: 'Amount in wei.' },
  { label: 'sol("1.5")', description: 'Amount in lamports.' },
  { label: 'lamports("1")', description: 'Amount in lamports.' },
  { label: 'days(7)', description: 'Duration.' },
  { label: 'hours(1)', description: 'Duration.' },
  { label: 'minutes(5)', description: 'Duration.' },
  { label: 'duration("1h30m")', description: 'Duration.' },
  { label: 'timestamp("2026-01-31T00:00:00Z")', description: 'Time in UTC.' },
  {
    label: 'request.time.getHours("Europe/Zurich")',
    description: 'Hour in an IANA time zone, 0 to 23; in UTC without a zone. Also getMinutes and getSeconds.',
  },
  {
    label: 'request.time.getDayOfWeek("Europe/Zurich")',
    description: 'Weekday in an IANA time zone: 0 is Sunday, 6 is Saturday.',
  },
  {
    label: 'request.time.getDate("Europe/Zurich")',
    description: 'Day of the month in an IANA time zone, 1 to 31. Also getFullYear.',
  },
  {
    label: 'request.time.getMonth("Europe/Zurich")',
    description: 'Month in an IANA time zone: 0 is January, 11 is December.',
  },
  { label: 'size([1, 2])', description: 'Number of elements of a list, or of characters of a string.' },
]

const factWords = (): readonly Word[] =>
  [...Object.entries(FACTS), ...Object.entries(SESSION_FACTS)].flatMap(([group, fields]) =>
    Object.entries(fields).map(([name, { type, description }]) => ({
      label: `${group}.${name}`,
      description: `${type.replace('google.protobuf.', '').toLowerCase()}. ${description}`,
    })),
  )

const listed = ({ label, description }: Word): string => `- \`${label}\` ${description}`

/** Returns the schema members for a text with a condition. */
export const conditionWords = (): Schema => {
  const facts = factWords()
  return {
    defaultSnippets: [...facts, ...FUNCTION_WORDS].map(({ label, description }) => ({
      label,
      description,
      // Braces and dollar signs would be placeholders; no word contains one.
      body: label,
    })),
    markdownDescription: ['Facts', ...facts.map(listed), '', 'Functions', ...FUNCTION_WORDS.map(listed)].join('\n'),
  }
}
