import { type CompiledSchema, EDGE_NAME, EDGE_STRIDE } from './compiled.ts'

/** No element has it. */
const NO_NAME = -3

/** The edges of a schema, and behind them one that no element takes. */
export const edgesAndNone = ({ edges }: CompiledSchema): Int32Array => {
  const all = new Int32Array(edges.length + EDGE_STRIDE).fill(NO_NAME)
  all.set(edges)
  return all
}

/** By state: its first edge where an element's name alone decides it; else the one that none takes. */
export const firstEdgesOf = ({ edges, stateEdges, vocabularySize }: CompiledSchema): Int32Array =>
  stateEdges.map((first, state) => {
    const edge = first * EDGE_STRIDE
    const name = edges[edge + EDGE_NAME] ?? NO_NAME
    const isEmpty = first === (stateEdges[state + 1] ?? first)
    // A name beyond the vocabulary is numbered in another way by each document.
    return isEmpty || name < 0 || name >= vocabularySize ? edges.length : edge
  })
