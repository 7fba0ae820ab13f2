// Latencies of refusals from the histogram of a service.
import { expect, test } from 'bun:test'
import { readRefusals, servedWithinMs } from '../../bench/parts/served-refusals.ts'

const scrape = (counts: readonly number[], status = '503', route = '/v2/attestation'): string =>
  ['0.00025', '0.005', '+Inf']
    .map((le, index) => {
      const labels = `http_request_method="POST",http_route="${route}",http_response_status_code="${status}",le="${le}"`
      return `http_server_request_duration_seconds_bucket{${labels}} ${counts[index]}`
    })
    .join('\n')

test('only the refusals of the route between two scrapes count', () => {
  const noise = [scrape([900, 900, 900], '200'), scrape([0, 0, 900], '503', '/v1/task')]
  const before = readRefusals([scrape([50, 50, 100]), ...noise].join('\n'), '/v2/attestation')
  const after = readRefusals([scrape([148, 149, 200]), ...noise].join('\n'), '/v2/attestation')
  expect(servedWithinMs(before, after, 0.5)).toBe(0.25)
  expect(servedWithinMs(before, after, 0.99)).toBe(5)
  expect(servedWithinMs(before, after, 1)).toBe(Number.POSITIVE_INFINITY)
  expect(servedWithinMs(after, after, 0.99)).toBeNull()
})

test('a service without earlier refusals starts at zero', () => {
  expect(servedWithinMs(readRefusals('', '/x'), readRefusals(scrape([98, 99, 100]), '/v2/attestation'), 0.99)).toBe(5)
})
