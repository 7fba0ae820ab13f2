/** Words of a text, for tables whose entries contain no spaces. */
export const words = ([text = '']: TemplateStringsArray): string[] => text.trim().split(/\s+/)
