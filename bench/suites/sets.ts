import { createMessageScanner, messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { type Contender, type Group, type Suite, smoke } from '../harness.ts'
import { hasLibxml2, libxml2Scan, libxml2Validate } from '../peers/libxml2.ts'
import { goalsAgainst, nodePeer, standardParsers } from '../peers/program.ts'
import { saxesElements } from '../saxes-elements.ts'
import { fewShapes, type SetMessage, sets } from '../sets.ts'

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

/** How much longer saxes, on either runtime, and the parsers of Go and Java take at least. */
const scannersAtLeast = 3

/** libxml2 takes two thirds longer at least, whatever the input. */
const libxml2AtLeast = 1.5

const scanning = (
  name: string,
  messages: () => readonly SetMessage[],
  inC: boolean,
  programs: readonly Contender[],
): Group => {
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
      ...programs,
    ],
    sameWork: [ours, saxes, ...(inC ? [peer] : []), ...programs.map((program) => program.name)],
    goals: [
      { ours, peer: saxes, atLeast: scannersAtLeast },
      ...goalsAgainst(programs, ours, scannersAtLeast),
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
    goals: [
      ...(inC ? [{ ours, peer, atLeast: libxml2AtLeast }] : []),
      ...(inC && name !== fewShapes
        ? []
        : [{ ours, peer: plain, atLeast: name === fewShapes ? 6 : 1.5 }]),
    ],
  }
}

/**
 * Input that recurs, and input that does not: what is learned must pay where it can, and cost nothing where it cannot.
 * libxml2 in C, and the parsers of Go and Java, are peers where this machine can build programs that use them.
 */
export const setsSuite: Suite = {
  name: 'sets',
  groups: (mode) => {
    const inC = hasLibxml2()
    return Object.entries(sets).flatMap(([name, make]) => {
      const messages = once(() => make(mode === smoke ? 64 : 4096))
      const texts = () => messages().map(({ xml }) => xml)
      // Programs take their time to start: the set that is most like what comes is enough.
      const programs =
        name === 'real mix' ? [...nodePeer('saxes', texts), ...standardParsers(texts)] : []
      return [scanning(name, messages, inC, programs), validating(name, messages, inC)]
    })
  },
}
