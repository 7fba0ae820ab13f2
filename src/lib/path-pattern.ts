const isParameter = (segment: string): boolean => segment.startsWith(':') || segment.startsWith('{')

/**
 * Each parameter (`:name` or `{name}`) matches one segment that is not empty.
 * @param segments of the declared path
 * @param asked segments of the request's path
 */
export const matchesPath = (segments: readonly string[], asked: readonly string[]): boolean =>
  segments.length === asked.length &&
  segments.every((segment, at) => (isParameter(segment) ? asked[at] !== '' : segment === asked[at]))
