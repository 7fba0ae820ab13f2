// Imported asset files: `type: 'file'` imports the path of a file, `type: 'text'` its content.

declare module '*.bin' {
  const path: string
  export default path
}

declare module '*.woff2' {
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
