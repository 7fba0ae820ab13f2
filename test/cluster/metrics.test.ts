// The metrics of several processes in one exposition.
import { expect, test } from 'bun:test'
import { mergeMetrics } from '../../src/cluster/answers.ts'

const exposition = (value: number): string => `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{route="/x",status="200"} ${value}
requests_total{route="/y{}",status="400"} 0
# HELP wait_seconds Wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="0.1"} ${value}
wait_seconds_bucket{le="+Inf"} ${value}
wait_seconds_sum 0.5
wait_seconds_count ${value}
`

test('each family appears once, with a sample per process', () => {
  expect(
    mergeMetrics(
      new Map([
        [1, exposition(7)],
        [0, exposition(3)],
      ]),
    ),
  ).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{process="0",route="/x",status="200"} 3
requests_total{process="0",route="/y{}",status="400"} 0
requests_total{process="1",route="/x",status="200"} 7
requests_total{process="1",route="/y{}",status="400"} 0
# HELP wait_seconds Wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{process="0",le="0.1"} 3
wait_seconds_bucket{process="0",le="+Inf"} 3
wait_seconds_sum{process="0"} 0.5
wait_seconds_count{process="0"} 3
wait_seconds_bucket{process="1",le="0.1"} 7
wait_seconds_bucket{process="1",le="+Inf"} 7
wait_seconds_sum{process="1"} 0.5
wait_seconds_count{process="1"} 7
`)
})

test('the exposition is empty for no process or a process without metrics', () => {
  expect(mergeMetrics(new Map())).toBe('')
  expect(mergeMetrics(new Map([[0, '']]))).toBe('')
})
