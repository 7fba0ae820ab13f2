// Reads the durations of refusals from the service's own histogram. Callers measure longer times, which include waiting
// for a busy machine and the generator.
const METRIC = 'http_server_request_duration_seconds_bucket'

/** A route's refusals (503) by the upper bound of their duration in seconds, cumulative as in /metrics. */
export type RefusalBuckets = ReadonlyMap<number, number>

export const readRefusals = (exposition: string, route: string): RefusalBuckets => {
  const buckets = new Map<number, number>()
  for (const line of exposition.split('\n')) {
    if (!line.startsWith(METRIC) || !line.includes(`http_route="${route}"`)) continue
    if (!line.includes('http_response_status_code="503"')) continue
    const [, bound, count] = /le="([^"]+)".*\} (\d+)/.exec(line) ?? []
    if (bound === undefined) continue
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
    buckets.set(seconds, (buckets.get(seconds) ?? 0) + Number(count))
  }
  return buckets
}

/**
 * @returns the milliseconds within which this share of the refusals between two scrapes was served; Infinity above the
 * histogram's last bound; null without a refusal
 */
export const servedWithinMs = (before: RefusalBuckets, after: RefusalBuckets, share: number): number | null => {
  const bounds = [...after.keys()].sort((a, b) => a - b)
  const counts = bounds.map((bound) => (after.get(bound) ?? 0) - (before.get(bound) ?? 0))
  const all = counts.at(-1) ?? 0
  if (all === 0) return null
  return bounds[counts.findIndex((count) => count >= all * share)]! * 1_000
}
