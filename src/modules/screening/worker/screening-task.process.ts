// Performs one task on standard input with large or untrusted data, and writes the result to standard output.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { ScreeningListInvalidError } from '../formats/csv-rows.ts'
import { listedWallets, packEntries, unpackEntries } from '../formats/entry-lines.ts'
import { readScreeningList } from '../formats/read-screening-list.ts'
import { buildScreening } from '../matching/screen-subject.ts'
import { decodePieces, encodePieces, type ScreeningTask } from './screening-protocol.ts'

stayInBackground()

const perform = (task: ScreeningTask, pieces: readonly Uint8Array[]): Uint8Array | string => {
  switch (task.task) {
    case 'read':
      try {
        const { bytes, ...packed } = packEntries(readScreeningList(task.format, pieces, task.expected))
        return encodePieces({ packed, refusal: null }, [bytes])
      } catch (error) {
        if (!(error instanceof ScreeningListInvalidError)) throw error
        return encodePieces({ packed: null, refusal: error.detail }, [])
      }
    case 'wallets':
      return JSON.stringify(pieces.flatMap(listedWallets))
    case 'index':
      return buildScreening(pieces.map((bytes, at) => ({ list: task.lists[at] ?? '', entries: unpackEntries(bytes) })))
  }
}

const { head, pieces } = decodePieces<ScreeningTask>(await Bun.stdin.bytes())
await Bun.write(Bun.stdout, perform(head, pieces))
