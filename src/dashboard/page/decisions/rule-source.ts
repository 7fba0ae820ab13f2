/** Only the rule's own level counts, because multi-line text can also contain `id:`. */
const isIdAt = (indentation: number, line: string, rule: string): boolean => {
  const own = line.slice(indentation + 2)
  const begins = line.startsWith('- ', indentation) || line.slice(0, indentation + 2).trim() === ''
  if (!begins || !own.startsWith('id:')) return false
  const value = own.slice('id:'.length).trim()
  return [rule, `"${rule}"`, `'${rule}'`].some((text) => value === text || value.startsWith(`${text} #`))
}

/** Returns the rule with its comments, unindented; null if the document isn't in block style, such as JSON. */
export const ruleSource = (source: string, rule: string): string | null => {
  const lines = source.split('\n')
  const start = lines.findIndex((line) => /^rules:\s*(#.*)?$/.test(line)) + 1
  const indentation = /^ *(?=- )/.exec(lines.slice(start).find((line) => line.trimStart().startsWith('- ')) ?? '')?.[0]
  if (start === 0 || indentation === undefined) return null
  const blocks: string[][] = []
  let comments: string[] = []
  for (const line of lines.slice(start)) {
    if (line.startsWith(`${indentation}- `)) {
      blocks.push([...comments, line])
      comments = []
    } else if (line.startsWith(`${indentation}#`)) comments.push(line)
    else if (line.trim() !== '' && !line.startsWith(`${indentation} `)) break
    else blocks.at(-1)?.push(line)
  }
  const block = blocks.find((each) => each.some((line) => isIdAt(indentation.length, line, rule)))
  return (
    block
      ?.map((line) => line.slice(indentation.length))
      .join('\n')
      .trimEnd() ?? null
  )
}
