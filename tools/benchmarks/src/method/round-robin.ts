/** Measures each in turn, several times, so that a noisy minute affects all of them alike. */
export async function roundRobin<Id extends string, Result>(
  ids: readonly Id[],
  rounds: number,
  measure: (id: Id, round: number) => Promise<Result>,
): Promise<Map<Id, Result[]>> {
  const results = new Map(ids.map((id): [Id, Result[]] => [id, []]))
  for (let round = 0; round < rounds; round++) {
    for (const id of ids) results.get(id)?.push(await measure(id, round))
  }
  return results
}
