// Builds the index for name-index.ts in flat arrays: tens of thousands of names take a few megabytes.
import { type FlatArrays, prefixed } from '../../../../lib/flat-arrays.ts'
import { skeletonOf } from './consonants.ts'
import { joinsOf } from './joined-words.ts'
import { packWord } from './name-index.ts'
import type { NameWord } from './read-name.ts'
import { buildWordTable } from './word-table.ts'

interface WordDraft {
  readonly written: string
  readonly folded: string
  readonly skeleton: string
  /** Bit 0: join of two words; bit 1: written without vowels. */
  readonly flags: number
  readonly names: number[]
}

/** Members of group n are at `starts[n]` to `starts[n + 1]`, exclusive. */
const grouped = (groupOf: Uint32Array, groups: number) => {
  const starts = new Uint32Array(groups + 1)
  for (const group of groupOf) starts[group + 1] = starts[group + 1]! + 1
  for (let group = 0; group < groups; group++) starts[group + 1] = starts[group + 1]! + starts[group]!
  const members = new Uint32Array(groupOf.length)
  const filled = starts.slice()
  for (let member = 0; member < groupOf.length; member++) members[filled[groupOf[member]!]!++] = member
  return { starts, members }
}

const buildWords = (
  drafts: readonly WordDraft[],
  isOne: (draft: WordDraft) => boolean,
  textOf: (draft: WordDraft) => string,
): { readonly arrays: FlatArrays; readonly rows: ReadonlyMap<string, number> } => {
  const members = Uint32Array.from(drafts.keys()).filter((word) => isOne(drafts[word]!))
  const { arrays, numbers } = buildWordTable([...new Set(Array.from(members, (word) => textOf(drafts[word]!)))])
  const rows = Uint32Array.from(members, (word) => numbers.get(textOf(drafts[word]!)) ?? 0)
  const groups = grouped(rows, numbers.size)
  const ordered = groups.members.map((member) => members[member]!)
  return { arrays: { ...arrays, groupStarts: groups.starts, groupMembers: ordered }, rows: numbers }
}

export const createNameIndexBuilder = () => {
  const numbers = new Map<string, number>()
  const drafts: WordDraft[] = []
  const packed: number[] = []
  const starts: number[] = [0]
  const entries: number[] = []

  const draftOf = (written: string, folded: string, skeleton: string, flags: number): number => {
    const key = flags === 0 ? written : `${flags}${written}`
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, drafts.length)
    drafts.push({ written, folded, skeleton, flags, names: [] })
    return drafts.length - 1
  }

  return {
    add: (words: readonly NameWord[], entry: number) => {
      const name = entries.length
      const has = (word: number): void => {
        const { names } = drafts[word]!
        if (names.at(-1) !== name) names.push(name)
      }
      for (const { written, folded, skeletons, role } of words) {
        const [skeleton] = skeletons
        const word =
          skeleton === undefined
            ? draftOf(written, folded, skeletonOf(written).consonants, 0)
            : draftOf(written, folded, skeleton.consonants, 2)
        packed.push(packWord(role, word))
        has(word)
      }
      for (const { written, folded } of joinsOf(words)) has(draftOf(written, folded, '', 1))
      starts.push(packed.length)
      entries.push(entry)
    },

    build: (): FlatArrays => {
      const isJoin = (draft: WordDraft): boolean => (draft.flags & 1) !== 0
      const isSingle = (draft: WordDraft): boolean => !isJoin(draft)
      const written = buildWords(drafts, isSingle, (draft) => draft.written)
      const folded = buildWords(drafts, isSingle, (draft) => draft.folded)
      const joinsWritten = buildWords(drafts, isJoin, (draft) => draft.written)
      const joinsFolded = buildWords(drafts, isJoin, (draft) => draft.folded)
      const postingStarts = new Uint32Array(drafts.length + 1)
      for (const [word, { names }] of drafts.entries()) postingStarts[word + 1] = postingStarts[word]! + names.length
      const postings = new Uint32Array(postingStarts[drafts.length]!)
      for (const [word, { names }] of drafts.entries()) postings.set(names, postingStarts[word])
      const skeletons = buildWords(drafts, isSingle, (draft) => draft.skeleton)
      const counts = new Map<string, number>()
      for (const { folded: sound, names } of drafts.filter(isSingle))
        counts.set(sound, (counts.get(sound) ?? 0) + names.length)
      return {
        ...prefixed('written', written.arrays),
        ...prefixed('folded', folded.arrays),
        ...prefixed('joinsWritten', joinsWritten.arrays),
        ...prefixed('joinsFolded', joinsFolded.arrays),
        ...prefixed('skeletons', skeletons.arrays),
        flags: Uint8Array.from(drafts, ({ flags }) => flags),
        rows: Uint32Array.from(
          drafts,
          (draft) => (isJoin(draft) ? joinsWritten : written).rows.get(draft.written) ?? 0,
        ),
        sounds: Uint32Array.from(drafts, (draft) => folded.rows.get(draft.folded) ?? 0),
        frequencies: Uint32Array.from(drafts, (draft) => counts.get(draft.folded) ?? draft.names.length),
        postingStarts,
        postings,
        nameWords: Uint32Array.from(packed),
        nameStarts: Uint32Array.from(starts),
        entries: Uint32Array.from(entries),
      }
    },
  }
}
