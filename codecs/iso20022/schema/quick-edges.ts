import { type CompiledSchema, edgeName, edgeStride } from './compiled.ts'

/** No element has it. */
const noName = -3

/** The edges of a schema, and behind them one that no element takes. */
export const edgesAndNone = ({ edges }: CompiledSchema): Int32Array => {
  const all = new Int32Array(edges.length + edgeStride).fill(noName)
  all.set(edges)
  return all
}

/** By state: its first edge where an element's name alone decides it; else the one that none takes. */
export const firstEdgesOf = ({ edges, stateEdges, vocabularySize }: CompiledSchema): Int32Array =>
  stateEdges.map((first, state) => {
    const edge = first * edgeStride
    const name = edges[edge + edgeName] ?? noName
    const isEmpty = first === (stateEdges[state + 1] ?? first)
    // A name beyond the vocabulary is numbered in another way by each document.
    return isEmpty || name < 0 || name >= vocabularySize ? edges.length : edge
  })
