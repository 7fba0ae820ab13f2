// Completions and descriptions of conditions for editors with a YAML extension: every fact and function, as extra
// members of the JSON Schema for Visual Studio Code's extension. They do not constrain documents. Source:
// https://github.com/redhat-developer/vscode-yaml, https://code.visualstudio.com/docs/languages/json.

import type { Schema } from '../document/schema-shapes.ts'
import { FACTS } from '../facts.ts'
import { SESSION_FACTS } from '../session-facts.ts'

interface Word {
  readonly label: string
  readonly description: string
}

/** One example per function and method group. A test verifies that they match the language. */
export const FUNCTION_WORDS: readonly Word[] = [
  { label: 'in_list(wallet.address, "name")', description: 'Whether an address is in a list.' },
  { label: 'in_list(wallet.address, "name", days(2))', description: 'The same, but fails if the list is older.' },
  {
    label: 'screener("name").flagged',
    description: 'Answer of a screener about the wallet; also .score and .categories.',
  },
  {
    label: 'screener("name", onBehalf.address).flagged',
    description: 'Answer of a screener about the represented user.',
  },
  { label: 'velocity.count(hours(1))', description: 'Compliant decisions of this wallet within a window.' },
  { label: 'velocity.value(days(1))', description: 'Native tokens of this wallet within a window, on this chain.' },
  { label: 'address("0x0000000000000000000000000000000000000000")', description: 'An address of any chain family.' },
  { label: 'uint256("1")', description: 'A whole number up to 2^256 - 1.' },
  { label: 'ether("1.5")', description: 'An amount in wei.' },
  { label: 'gwei("1")', description: 'An amount in wei.' },
  { label: 'sol("1.5")', description: 'An amount in lamports.' },
  { label: 'lamports("1")', description: 'An amount in lamports.' },
  { label: 'days(7)', description: 'A duration.' },
  { label: 'hours(1)', description: 'A duration.' },
  { label: 'minutes(5)', description: 'A duration.' },
  { label: 'duration("1h30m")', description: 'A duration.' },
  { label: 'timestamp("2026-01-31T00:00:00Z")', description: 'An instant, in UTC.' },
  { label: 'size([1, 2])', description: 'How many elements a list has, or characters a text.' },
]

const factWords = (): readonly Word[] =>
  [...Object.entries(FACTS), ...Object.entries(SESSION_FACTS)].flatMap(([group, fields]) =>
    Object.entries(fields).map(([name, { type, description }]) => ({
      label: `${group}.${name}`,
      description: `${type.replace('google.protobuf.', '').toLowerCase()}. ${description}`,
    })),
  )

const listed = ({ label, description }: Word): string => `- \`${label}\` ${description}`

/** Returns the schema members for a text that is a condition. */
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
