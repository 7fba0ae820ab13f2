const isParameter = (segment: string): boolean => segment.startsWith(':') || segment.startsWith('{')

/** Each parameter (`:name` or `{name}`) matches one non-empty segment. @param segments of the declared path */
export const matchesPath = (segments: readonly string[], asked: readonly string[]): boolean =>
  segments.length === asked.length &&
  segments.every((segment, at) => (isParameter(segment) ? asked[at] !== '' : segment === asked[at]))
