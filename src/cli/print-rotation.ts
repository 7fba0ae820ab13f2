// Prints the result of rotating a key that is in a file.
import type { CommandContext } from './command.ts'
import { print } from './output.ts'

export const printRotation = (
  context: Pick<CommandContext, 'output' | 'command'>,
  { file, inPlace, ...counts }: { readonly file: string; readonly inPlace: boolean },
  lines: readonly string[],
): void => {
  const all = [
    ...lines,
    `the key is in ${file}`,
    ...(inPlace ? [] : [`copy its content to ${file.replace(/\.next$/, '')} before you remove it`]),
  ]
  print(context, { ...counts, file, in_place: inPlace }, `${all.join('\n')}\n`)
}
