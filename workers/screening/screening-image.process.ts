// Entry of the process that arranges the names of lists for searching: it reads the lists from standard input, writes
// the arranged names to standard output, and ends, which frees its memory.
import { unpackEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { buildScreening } from '../../src/modules/screening/matching/screen-subject.ts'
import { stayInBackground } from '../background-process.ts'
import { decodeLists } from './screening-protocol.ts'

stayInBackground()

const lists = decodeLists(await Bun.stdin.bytes())
const image = buildScreening(lists.map(({ list, bytes }) => ({ list, entries: unpackEntries(bytes) })))
await Bun.write(Bun.stdout, image)
