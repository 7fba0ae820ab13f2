// Run by tree-maker.test.ts as a process of its own: one pass of the tree, and an end by SIGKILL after a step. Arguments:
// folder, step.
import { createTestMaker } from './tree-fixtures.ts'

const [root = '', step = ''] = process.argv.slice(2)
const { maker } = await createTestMaker(root, {
  onStep: (done) => {
    if (done === step) process.kill(process.pid, 'SIGKILL')
  },
})
await maker.pass(step !== 'submitted')
