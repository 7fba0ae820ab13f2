// The file that a list is exported as, read back.

export interface Entry {
  readonly address: string
  readonly memo: string
}

/** Lines of the export: `address,memo`, the memo in quotes where it has to be. */
export const parseEntries = (csv: string, limit: number): readonly Entry[] =>
  csv
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .slice(0, limit)
    .map((line) => {
      const at = line.indexOf(',')
      const memo = at === -1 ? '' : line.slice(at + 1)
      return {
        address: at === -1 ? line : line.slice(0, at),
        memo: memo.startsWith('"') ? memo.slice(1, -1).replaceAll('""', '"') : memo,
      }
    })
