import type { CommandContext } from '../command-line/command.ts'
import { print } from '../command-line/output.ts'
import type { EvidenceKeyRotation } from '../setup/evidence-key.ts'

/** @param secret kind of secret, such as `key` */
export const rotationDescription = (secret: string): string =>
  `Works while the service runs. The next ${secret} is read from FILE.next, where FILE is the file of the current ${secret}. ` +
  'FILE.next is created if it is missing, and replaces FILE when the command completes. With several machines, copy the same ' +
  `FILE.next to each machine first. If interrupted, run the command again. Earlier backups need the previous ${secret}: keep ` +
  'FILE.previous-1 (or a higher number after more rotations) until no backup needs it.'

export const printRotation = (
  context: Pick<CommandContext, 'output' | 'command'>,
  { file, inPlace, previous, ...counts }: Pick<EvidenceKeyRotation, 'file' | 'inPlace' | 'previous'>,
  lines: readonly string[],
): void => {
  const all = [
    ...lines,
    `the key is in ${file}`,
    ...(previous === null ? [] : [`earlier backups need the previous key: keep ${previous} until you delete them`]),
    ...(inPlace
      ? []
      : [
          `copy its content to ${file.replace(/\.next$/, '')} before you remove it`,
          'earlier backups need the content that you replace: keep a copy until you delete them',
        ]),
  ]
  print(context, { ...counts, file, in_place: inPlace, previous }, `${all.join('\n')}\n`)
}
