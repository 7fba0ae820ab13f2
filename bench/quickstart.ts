// Reads quickstart.env, which the first start of a service writes: `NAME=value` lines.

/** Values of quickstart.env by name. */
export type Quickstart = Readonly<Record<string, string>>

export const parseEnvironmentFile = (text: string): Quickstart =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('=') && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** @throws Error with the missing name */
export const requiredValue = (quickstart: Quickstart, name: string): string => {
  const value = quickstart[name]
  if (value === undefined || value === '') throw new Error(`quickstart.env has no ${name}`)
  return value
}
