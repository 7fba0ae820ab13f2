// A real screening process: a query about many subjects does not delay others.
import { expect, test } from 'bun:test'
import { packEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { screeningProcesses } from '../../src/modules/screening/processes/screening-processes.ts'
import { listed } from './support.ts'

test('queries take turns, a few subjects at a time, and each gets its results in order', async () => {
  const { bytes } = packEntries([listed('p1', ['Ivan Primerov']), listed('p2', ['Anna Primerova Petrova'])])
  const screener = await screeningProcesses.startNameScreener([{ list: 'own', bytes }])
  try {
    const answered: string[] = []
    const ask = async (who: string, names: readonly string[]) => {
      const subjects = names.map((name) => ({ name }))
      const answers = await screener.screen(subjects, 90)
      answered.push(who)
      return answers.map(({ hits }) => hits.map(({ entry }) => entry).join())
    }
    const three = ['Ivan Primerov', 'Grace Hopper', 'Anna Primerova Petrova']
    const names = Array.from({ length: 30 }, (_, at) => three[at % 3]!)
    const [many, one] = await Promise.all([ask('many', names), ask('one', ['Ivan Primerov'])])
    expect(many).toEqual(Array.from({ length: 30 }, (_, at) => ['p1', '', 'p2'][at % 3]!))
    expect(one).toEqual(['p1'])
    expect(answered).toEqual(['one', 'many'])
  } finally {
    await screener.close()
  }
})
