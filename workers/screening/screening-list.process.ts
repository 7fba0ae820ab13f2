// Entry of the process that reads a list's files: strangers' files of many megabytes are opened where they can't hold up a
// request, and where they can be killed. It gets one line of JSON and the files, and writes one line of JSON and the packed
// entries.
import { packEntries } from '../../src/screening/entry-lines.ts'
import { ScreeningListInvalidError } from '../../src/screening/formats/csv-rows.ts'
import { readScreeningList } from '../../src/screening/read-screening-list.ts'
import { stayInBackground } from '../background-process.ts'
import { decodeFiles, encodeReading } from './screening-protocol.ts'

stayInBackground()

const { format, expected, files } = decodeFiles(await Bun.stdin.bytes())
const read = () => {
  try {
    const entries = readScreeningList(format, files, expected)
    return { packed: packEntries(entries), wallets: entries.flatMap((entry) => entry.wallets), refusal: null }
  } catch (error) {
    if (!(error instanceof ScreeningListInvalidError)) throw error
    return { packed: null, wallets: [], refusal: error.detail }
  }
}
await Bun.write(Bun.stdout, encodeReading(read()))
