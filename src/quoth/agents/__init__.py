"""What programs are shown of answers and passages, over the Model Context Protocol and else."""
