import { createMessageScanner, messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import type { Contender, Group, Suite } from '../harness.ts'
import { hasLibxml2, libxml2Scan, libxml2Validate } from '../peers/libxml2.ts'
import { saxesElements } from '../saxes-elements.ts'
import { type SetMessage, sets } from '../sets.ts'

/** Work on the next message of the set, from the first on each time it is asked for. */
type Work = (message: SetMessage) => number

/** The set is made when its contender first runs. */
const over =
  (messages: () => readonly SetMessage[], start: () => Work): Contender['run'] =>
  (times) => {
    const all = messages()
    const work = start()
    let sum = 0
    for (let i = 0; i < times; i++) sum += work(all[i % all.length] as SetMessage)
    return sum
  }

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** libxml2 takes two thirds longer at least, whatever the input. */
const libxml2AtLeast = 1.5

const scanning = (name: string, messages: () => readonly SetMessage[], inC: boolean): Group => {
  const ours = 'trilho'
  const peer = 'libxml2 SAX2 (C)'
  const saxes = 'saxes (xmlns)'
  const scanner = () =>
    createXmlScanner({ vocabulary: messageVocabulary, native: nativeText, reuse: true })
  return {
    name: `scan, ${name}`,
    contenders: [
      {
        name: ours,
        run: over(
          messages,
          once(() => {
            const { scan } = scanner()
            return ({ xml }) => scan(xml).elementCount
          }),
        ),
      },
      {
        name: saxes,
        run: over(
          messages,
          () =>
            ({ xml }) =>
              saxesElements(xml),
        ),
      },
      ...(inC ? [{ name: peer, run: inLibrary(messages, libxml2Scan) }] : []),
    ],
    sameWork: [ours, saxes, ...(inC ? [peer] : [])],
    goals: [
      { ours, peer: saxes, atLeast: 3 },
      ...(inC ? [{ ours, peer, atLeast: libxml2AtLeast }] : []),
    ],
  }
}

const inLibrary = (
  messages: () => readonly SetMessage[],
  load: (messages: readonly SetMessage[]) => (times: number) => bigint,
): Contender['run'] => {
  const loaded = once(() => load(messages()))
  return (times) => loaded()(times)
}

const validating = (name: string, messages: () => readonly SetMessage[], inC: boolean): Group => {
  const ours = 'trilho'
  const plain = 'trilho, without learning'
  const peer = 'libxml2 tree and XSD (C)'
  const judging = (learning: boolean) =>
    once((): Work => {
      const { scan, validate } = createMessageScanner(nativeText, { learning })
      return ({ schema, xml }) => (validate(schema, scan(xml)).valid ? 1 : 0)
    })
  return {
    name: `read and validate, ${name}`,
    contenders: [
      { name: ours, run: over(messages, judging(true)) },
      { name: plain, run: over(messages, judging(false)) },
      ...(inC ? [{ name: peer, run: inLibrary(messages, libxml2Validate) }] : []),
    ],
    sameWork: [ours, plain, ...(inC ? [peer] : [])],
    goals: inC ? [{ ours, peer, atLeast: libxml2AtLeast }] : [{ ours, peer: plain, atLeast: 1.5 }],
  }
}

/**
 * Input that recurs, and input that does not: what is learned must pay where it can, and cost nothing where it cannot.
 * libxml2 is a peer where this machine can compile a C program that uses it.
 */
export const setsSuite: Suite = {
  name: 'sets',
  groups: () => {
    const inC = hasLibxml2()
    return Object.entries(sets).flatMap(([name, make]) => {
      const messages = once(make)
      return [scanning(name, messages, inC), validating(name, messages, inC)]
    })
  },
}
