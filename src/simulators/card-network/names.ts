import { type Dialect, dialects, type Framing, framings } from '#codecs/iso8583'

/** The built-in dialect of version 1987 of that name, for those who do not know the codec. */
export const findDialect = (name: string): Dialect | undefined => {
  const found = Object.hasOwn(dialects, name) ? dialects[name] : undefined
  return found?.version === '1987' ? found : undefined
}

/** The built-in framing of that name. */
export const findFraming = (name: string): Framing | undefined => {
  const named: Readonly<Record<string, Framing>> = framings
  return Object.hasOwn(named, name) ? named[name] : undefined
}
