// The comparison with other servers: request templates, output of other load generators, table and chart.
import { expect, test } from 'bun:test'
import { drawBars } from '../../bench/draw/bar-chart.ts'
import { createAnswerInspector } from '../../bench/load/answers.ts'
import { prepareRequests } from '../../bench/load/requests.ts'
import { readRate } from '../../bench/peers/other-generators.ts'
import { peerChart, peerRows } from '../../bench/peers/peer-table.ts'
import type { Measurement } from '../../bench/result.ts'

test('a template is filled with the values of each request', () => {
  const plan = { seed: 's', wallets: 2, chain: 'base', target: { to: '0xabc' } }
  const template = '{"id":"{from}","attr":{"to":"{to}","chain":"{chain}","selector":"{selector}","other":"{other}"}}'
  const { bytes, bodies } = prepareRequests(new URL('http://h/'), {}, { ...plan, template })
  const text = Buffer.from(bytes[1]!).toString()
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toEqual({
    id: bodies[1]?.from,
    attr: { to: '0xabc', chain: 'base', selector: '0xa9059cbb', other: '{other}' },
  })
})

test('a response of another server must contain the expected text', async () => {
  const inspector = createAnswerInspector({ kind: 'status', contains: '"ALLOW"' }, [])
  const inspect = (text: string): boolean => {
    const bytes = Buffer.from(text)
    return inspector.inspect(0, { status: 200, bytes, bodyStart: 0, bodyEnd: bytes.length, closing: false })
  }
  expect([inspect('{"effect":"ALLOW"}'), inspect('{"effect":"DENY"}')]).toEqual([true, false])
  expect(await inspector.finish()).toMatchObject({ seen: 2, problems: ['1 answers without "ALLOW"'] })
})

test('wrk and h2load: only 2xx responses count', () => {
  const wrk = '  40000 requests in 4.00s, 20MB read\n  Non-2xx or 3xx responses: 10000\nRequests/sec:  10000.00\n'
  expect(readRate('wrk', wrk)).toBe(7_500)
  expect(readRate('wrk', wrk.replace(/.*Non-2xx.*\n/, ''))).toBe(10_000)
  const h2load = 'finished in 4.00s, 9000.00 req/s, 5MB/s\nstatus codes: 30000 2xx, 0 3xx, 6000 4xx, 0 5xx\n'
  expect(readRate('h2load', h2load)).toBe(7_500)
  expect(() => readRate('h2load', 'connection refused')).toThrow('no rate in its output')
})

test('the table contains every server, and the chart only servers measured with our generator', () => {
  const measured = (name: string, label: string, median: number, ...more: number[]): Measurement => {
    const rounds = more.length === 0 ? [median] : more
    return { name, label, median, unit: '/s', better: 'higher', rounds }
  }
  const measurements = [
    measured('peers.service.closed.throughput', 'Countersign: throughput', 8_000, 4_000, 8_000, 9_000),
    measured('peers.service.closed.cpu', 'Countersign: CPU', 80),
    measured('peers.bare.closed.throughput', 'bare server in C: throughput', 16_000, 8_000, 24_000, 16_000),
    measured('peers.service_wrk.closed.throughput', 'Countersign, measured by wrk', 8_100),
  ]
  const rows = peerRows(measurements).map(({ label, throughput, relative, cpu }) => [label, throughput, relative, cpu])
  expect(rows).toEqual([
    ['Countersign', 8_000, 1, 80],
    ['bare server in C', 16_000, 2, Number.NaN],
    ['Countersign, measured by wrk', 8_100, 8_100 / 4_000, Number.NaN],
  ])
  const chart = peerChart(measurements)
  expect(chart.bars.map(({ label, isOwn }) => [label, isOwn])).toEqual([
    ['Countersign (policy, signature, record)', true],
    ['bare server in C (signature)', false],
  ])
  const bars = [...drawBars(chart).matchAll(/<rect class="fill\d" .*? width="(\d+)"/g)]
  expect(bars.map(([, width]) => Number(width))).toEqual([180, 360])
  expect(() => drawBars({ ...chart, bars: [] })).toThrow(RangeError)
})
