// Entry of the process that indexes the names of lists: it reads the lists from standard input, writes the index to
// standard output, and ends, which frees its memory.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { unpackEntries } from '../formats/entry-lines.ts'
import { buildScreening } from '../matching/screen-subject.ts'
import { decodeLists } from './screening-protocol.ts'

stayInBackground()

const lists = decodeLists(await Bun.stdin.bytes())
const image = buildScreening(lists.map(({ list, bytes }) => ({ list, entries: unpackEntries(bytes) })))
await Bun.write(Bun.stdout, image)
