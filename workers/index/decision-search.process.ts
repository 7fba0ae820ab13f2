// Searches decisions: `bun decision-search.process.ts LOG-DIRECTORY INDEX-FILE`. Ends with its parent.
import { NamedError } from '../../src/lib/named-error.ts'
import { openIndexForReading } from '../../src/store/decision-index/reader.ts'
import { ASKED_PRIORITY, stayInBackground } from '../background-process.ts'
import { answerFinds } from './answer-finds.ts'
import { createDecisionFinder, type DecisionFinder } from './decision-finder.ts'

/** After the first start or a rebuild, the index is created within moments. */
const LOOK_AGAIN_MS = 50
const LOOK_FOR_MS = 5_000

class IndexMissingError extends NamedError {}

const [directory = '', path = ''] = process.argv.slice(2)

stayInBackground(ASKED_PRIORITY)

let opened: { readonly finder: DecisionFinder; isStale(): boolean; close(): void } | null = null

const closeIndex = (): void => {
  opened?.close()
  opened = null
}

const openFinder = async (): Promise<DecisionFinder> => {
  if (opened?.isStale() === true) closeIndex()
  for (let waitedMs = 0; opened === null && waitedMs <= LOOK_FOR_MS; waitedMs += LOOK_AGAIN_MS) {
    const file = openIndexForReading(path)
    if (file !== null) {
      const finder = createDecisionFinder({ directory, file, monotonicMs: () => performance.now() })
      opened = { finder, isStale: file.isStale, close: file.close }
    } else {
      await Bun.sleep(LOOK_AGAIN_MS)
    }
  }
  if (opened === null) throw new IndexMissingError()
  return opened.finder
}

// After a failure, the next request opens the index again.
answerFinds(openFinder, closeIndex)
process.on('disconnect', () => {
  closeIndex()
  process.exit(0)
})
