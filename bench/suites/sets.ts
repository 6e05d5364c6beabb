import { createMessageScanner, messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { type Contender, type Group, type Suite, smoke } from '../harness.ts'
import { hasLibxml2, libxml2Scan, libxml2Validate } from '../peers/libxml2.ts'
import { goalsAgainst, nodePeer, standardParsers } from '../peers/program.ts'
import { saxesElements } from '../saxes-elements.ts'
import { fewShapes, type SetMessage, sets } from '../sets.ts'

/** The work on the next message of the set; each request begins with the first. */
type Work = (message: SetMessage) => number

/** Makes the set when its contender first runs. */
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

/** How many times as long saxes, on either runtime, and the parsers of Go and Java take at least. */
const scannersAtLeast = 3

/** libxml2 takes half as long again at least, whatever the input. */
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
 * Input that recurs, and input that does not: learning must pay where it can, and cost nothing elsewhere. libxml2 in C
 * and the parsers of Go and Java are peers if this machine can build their programs.
 */
export const setsSuite: Suite = {
  name: 'sets',
  groups: (mode) => {
    const inC = hasLibxml2()
    return Object.entries(sets).flatMap(([name, make]) => {
      const messages = once(() => make(mode === smoke ? 64 : 4096))
      const texts = () => messages().map(({ xml }) => xml)
      // Programs take time to start, so only the most realistic set has them.
      const programs =
        name === 'real mix' ? [...nodePeer('saxes', texts), ...standardParsers(texts)] : []
      return [scanning(name, messages, inC, programs), validating(name, messages, inC)]
    })
  },
}
