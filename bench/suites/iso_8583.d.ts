declare module 'iso_8583' {
  class Iso8583 {
    constructor(fields?: Readonly<Record<number, string>>)
    getBufferMessage(): Uint8Array | { readonly error: string }
    getIsoJSON(message: Uint8Array): Readonly<Record<string, unknown>>
  }
  export default Iso8583
}
