// Parses a list's large and untrusted files. Input and output: one line of JSON, then the files or packed entries.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { ScreeningListInvalidError } from '../formats/csv-rows.ts'
import { packEntries } from '../formats/entry-lines.ts'
import { readScreeningList } from '../formats/read-screening-list.ts'
import { decodeFiles, encodeReading } from './screening-protocol.ts'

stayInBackground()

const { format, expected, files } = decodeFiles(await Bun.stdin.bytes())
const read = () => {
  try {
    return { packed: packEntries(readScreeningList(format, files, expected)), refusal: null }
  } catch (error) {
    if (!(error instanceof ScreeningListInvalidError)) throw error
    return { packed: null, refusal: error.detail }
  }
}
await Bun.write(Bun.stdout, encodeReading(read()))
