// Searches the shared index: `bun shared-search.process.ts LOG-DIRECTORY`, with a SharedIndexInput on standard input.

import { nodeNameOf } from '../../src/decision-log/node-name.ts'
import { openShipTarget } from '../../src/object-store/ship-access.ts'
import { openSharedIndex } from '../../src/store/decision-index/shared-index.ts'
import { ASKED_PRIORITY, stayInBackground } from '../background-process.ts'
import { answerFinds } from './answer-finds.ts'
import { createSharedDecisionFinder } from './shared-decision-finder.ts'
import type { SharedIndexInput } from './shared-index-input.ts'

const [directory = ''] = process.argv.slice(2)

stayInBackground(ASKED_PRIORITY)

process.on('disconnect', () => process.exit(0))

const open = async () => {
  const { target, place, access } = (await Bun.stdin.json()) as SharedIndexInput
  const node = nodeNameOf(directory)
  const { reader } = await openSharedIndex(target, node)
  return createSharedDecisionFinder({
    directory,
    node,
    reader,
    shipped: place === null ? null : openShipTarget(place, access),
  })
}

/** Requests wait until the index is open. If it cannot be opened, the process ends and is restarted. */
const opening = open()

answerFinds(() => opening)

await opening
