// Process that indexes the names of lists: reads the lists from stdin and writes the index to stdout. Exiting frees its
// memory.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { unpackEntries } from '../formats/entry-lines.ts'
import { buildScreening } from '../matching/screen-subject.ts'
import { decodeLists } from './screening-protocol.ts'

stayInBackground()

const lists = decodeLists(await Bun.stdin.bytes())
const image = buildScreening(lists.map(({ list, bytes }) => ({ list, entries: unpackEntries(bytes) })))
await Bun.write(Bun.stdout, image)
