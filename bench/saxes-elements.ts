import { SaxesParser } from 'saxes'

const decoder = new TextDecoder()

/** Counts the elements of a document with saxes, which checks well-formedness and namespaces. */
export const saxesElements = (xml: Uint8Array): number => {
  const parser = new SaxesParser({ xmlns: true })
  let count = 0
  parser.on('opentag', () => {
    count++
  })
  parser.write(decoder.decode(xml)).close()
  return count
}
