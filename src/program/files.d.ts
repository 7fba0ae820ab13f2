// Files that come with the program and are imported: `type: 'file'` gives the path of one, `type: 'text'` its content.

declare module '*.bin' {
  const path: string
  export default path
}

declare module '*.css' {
  const text: string
  export default text
}

declare module '*.client.js' {
  const text: string
  export default text
}
