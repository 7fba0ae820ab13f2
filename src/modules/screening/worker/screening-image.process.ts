// Reads lists from stdin and writes the index of their names to stdout.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { unpackEntries } from '../formats/entry-lines.ts'
import { buildScreening } from '../matching/screen-subject.ts'
import { decodeLists } from './screening-protocol.ts'

stayInBackground()

const lists = decodeLists(await Bun.stdin.bytes())
const image = buildScreening(lists.map(({ list, bytes }) => ({ list, entries: unpackEntries(bytes) })))
await Bun.write(Bun.stdout, image)
