// Process of tree-maker.test.ts: one pass of the tree, and SIGKILL after a step. Arguments: folder, step.
import { createTestMaker } from './tree-fixtures.ts'

const [root = '', step = ''] = process.argv.slice(2)
const { maker } = await createTestMaker(root, {
  onStep: (done) => {
    if (done === step) process.kill(process.pid, 'SIGKILL')
  },
})
await maker.pass(step !== 'submitted')
