// Entry of the process that arranges the names of lists: it reads the lists from its standard input, writes the arranged
// names to its standard output, and ends. What it took in memory ends with it.
import { unpackEntries } from '../../src/screening/entry-lines.ts'
import { buildScreening } from '../../src/screening/screen-subject.ts'
import { stayInBackground } from '../background-process.ts'
import { decodeLists } from './screening-protocol.ts'

stayInBackground()

const lists = decodeLists(await Bun.stdin.bytes())
const image = buildScreening(lists.map(({ list, bytes }) => ({ list, entries: unpackEntries(bytes) })))
await Bun.write(Bun.stdout, image)
