import type { CommandContext } from '../command-line/command.ts'
import { print } from '../command-line/output.ts'

/** @param secret kind of secret, such as `key` */
export const rotationDescription = (secret: string): string =>
  `Works while the service runs. The next ${secret} is read from FILE.next, where FILE is the file of the current ${secret}. ` +
  'FILE.next is created if it is missing, and replaces FILE when the command completes. With several machines, copy the same ' +
  'FILE.next to each machine first. If interrupted, run the command again.'

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
