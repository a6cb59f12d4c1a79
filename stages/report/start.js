for (const root of document.querySelectorAll("[data-explore]")) startExplorable(root)
