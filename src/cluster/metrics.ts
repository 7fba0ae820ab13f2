// Merges the metrics of all processes. Each family appears once and each sample has a process label, so that counters
// and histograms can be summed and gauges distinguished. Source:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format.

interface Family {
  /** Lines with `# HELP` and `# TYPE`. */
  readonly comments: string[]
  readonly samples: string[]
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (.+)$/

const labelled = (sample: string, process: number): string => {
  const match = SAMPLE.exec(sample)
  if (match === null) return sample
  const [, name, , labels, value] = match
  const own = `process="${process}"`
  return `${name}{${labels === undefined || labels === '' ? own : `${own},${labels}`}} ${value}`
}

/** @param expositions texts in the exposition format, by process */
export const mergeMetrics = (expositions: ReadonlyMap<number, string>): string => {
  const families = new Map<string, Family>()
  for (const [process, text] of [...expositions].sort(([a], [b]) => a - b)) {
    let family: Family | undefined
    for (const line of text.split('\n')) {
      if (line === '') continue
      const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)
      if (comment !== null) {
        const [, name = ''] = comment
        family = families.get(name) ?? { comments: [], samples: [] }
        families.set(name, family)
        if (!family.comments.includes(line)) family.comments.push(line)
      } else if (family !== undefined && !line.startsWith('#')) {
        family.samples.push(labelled(line, process))
      }
    }
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples])
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}
